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
	if (c->next < c->b->count)
		return c->b->rows[c->next].start;
	return c->next == c->b->count && c->b->count ? c->b->end : UINT64_MAX;
}

/* Go on to @at; whether a function begins there. */
static bool advance(struct row_cursor *c, uint64_t at)
{
	bool begins = false;

	if (next_start(c) != at)
		return false;
	c->rule = TABLE_RULE_NONE;
	if (c->next < c->b->count) {
		c->rule = c->b->rows[c->next].rule;
		begins = c->b->rows[c->next].begins;
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

static int know_rules(struct underlay *u, const struct table_rules *rules)
{
	u->known = calloc(rules->count, sizeof(*u->known));
	if (!u->known)
		return -ENOMEM;
	for (size_t i = 1; i < rules->count; i++) {
		const struct table_rule *rule = &rules->rules[i];
		int r = rule->word ? table_rules_of_word(&u->to->rules, rule->word, &u->known[i])
				   : table_rules_of_rule(&u->to->rules, &rule->wide, &u->known[i]);

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

	if (rule == TABLE_RULE_NONE) {
		rule = u->known[u->under.rule];
		begins = beneath || (begins && rule == TABLE_RULE_NONE);
	}
	if (!begins && rule == u->last)
		return 0;
	u->last = rule;
	return table_builder_push(u->to, at, rule, begins);
}

static void take_over(struct table_builder *b, struct table_builder *made)
{
	free(b->rows);
	b->rows = made->rows;
	b->count = made->count;
	b->capacity = made->capacity;
	b->end = made->end;
	b->rules = made->rules;
}

int table_builder_underlay(struct table_builder *builder, const struct table_builder *under)
{
	struct table_builder made = {.arch = builder->arch, .rules = builder->rules};
	struct underlay u = {.to = &made, .over = {.b = builder}, .under = {.b = under}};
	int r;

	for (size_t i = 0; i < made.rules.count; i++)
		memset(made.rules.rules[i].uses, 0, sizeof(made.rules.rules[i].uses));
	r = know_rules(&u, &under->rules);
	while (!r) {
		uint64_t over = next_start(&u.over), beneath = next_start(&u.under);
		uint64_t at = over < beneath ? over : beneath;

		if (at == UINT64_MAX)
			break;
		r = put(&u, at);
	}
	free(u.known);
	/* the last row is that of nothing, after the last function */
	if (!r && made.count)
		made.end = made.rows[--made.count].start;
	take_over(builder, &made);
	return r;
}
