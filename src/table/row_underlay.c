/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_underlay.c - rows of one builder where another has none.
 */
#include <errno.h>

#include "table/table_builder.h"

/**
 * struct row_cursor - how far the rows of a builder have been read
 * @b: the builder
 * @next: the row after the one that holds now
 * @rule: that holds; none before the first row and after the end
 */
struct row_cursor {
	const struct table_builder *b;
	size_t next;
	uint32_t rule;
};

/* Where the next row starts, or the last one ends; UINT64_MAX: there is nothing more. */
static uint64_t next_start(const struct row_cursor *c)
{
	const struct rule_rows *rows = &c->b->rows;

	if (c->next < rows->count)
		return rows->row[c->next].start;
	return c->next == rows->count && rows->count ? c->b->end : UINT64_MAX;
}

/* Go on to @at; whether a function begins there. */
static bool advance(struct row_cursor *c, uint64_t at)
{
	bool begins = false;

	if (next_start(c) != at)
		return false;
	c->rule = RULE_NONE;
	if (c->next < c->b->rows.count) {
		c->rule = c->b->rows.row[c->next].rule;
		begins = c->b->rows.row[c->next].begins;
	}
	c->next++;
	return begins;
}

struct underlay {
	struct table_builder *to;
	struct row_cursor over, under;
	uint32_t *known; /* the rules of @under in @to */
	uint32_t last;
};

static int know_rules(struct underlay *u, const struct rule_pool *rules)
{
	u->known = calloc(rules->count, sizeof(*u->known));
	if (!u->known)
		return -ENOMEM;
	for (size_t i = 1; i < rules->count; i++) {
		const struct pooled_rule *rule = &rules->rules[i];
		struct rule_pool *to = &u->to->rows.rules;
		int r = rule->word ? rule_pool_of_word(to, rule->word, &u->known[i])
				   : rule_pool_of_rule(to, &rule->rule, &u->known[i]);

		if (r)
			return r;
	}
	return 0;
}

/* What holds from @at on. */
static int put(struct underlay *u, uint64_t at)
{
	bool begins = advance(&u->over, at), beneath = advance(&u->under, at);
	uint32_t rule = u->over.rule;

	if (rule == RULE_NONE) {
		rule = u->known[u->under.rule];
		begins = beneath || (begins && rule == RULE_NONE);
	}
	if (!begins && rule == u->last)
		return 0;
	u->last = rule;
	return table_builder_push(u->to, at, rule, begins);
}

static void take_over(struct table_builder *b, struct table_builder *made)
{
	free(b->rows.row);
	b->rows = made->rows;
	b->end = made->end;
}

int table_builder_underlay(struct table_builder *builder, const struct table_builder *under)
{
	struct table_builder made = {.arch = builder->arch, .rows.rules = builder->rows.rules};
	struct underlay u = {.to = &made, .over = {.b = builder}, .under = {.b = under}};
	int r;

	r = know_rules(&u, &under->rows.rules);
	while (!r) {
		uint64_t over = next_start(&u.over), beneath = next_start(&u.under);
		uint64_t at = over < beneath ? over : beneath;

		if (at == UINT64_MAX)
			break;
		r = put(&u, at);
	}
	free(u.known);
	/* the last row is that of nothing, after the last function */
	if (!r && made.rows.count)
		made.end = made.rows.row[--made.rows.count].start;
	take_over(builder, &made);
	return r;
}
