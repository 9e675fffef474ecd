/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_rules.h"

#include "core/bytes.h"
#include "table/table_layout.h"

/* A candidate for a number; numbers are given in the order of by_rank(). */
struct ranked_rule {
	uint64_t uses;
	uint32_t index;
	bool begins, wide;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked_rule *x = a, *y = b;

	if (x->wide != y->wide)
		return x->wide ? 1 : -1;
	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1) : x->begins - y->begins;
}

static size_t rank(const struct table_rules *rules, struct ranked_rule *ranked)
{
	size_t count = 0;

	for (uint32_t i = 0; i < rules->rows->rules.count; i++) {
		const struct table_rule *rule = &rules->rules[i];
		bool wide = i != RULE_NONE && !rules->rows->rules.rules[i].word;

		/* a row that goes on in a further block does not begin a function there */
		ranked[count++] = (struct ranked_rule){rule->uses[0], i, false, wide};
		if (rule->uses[1])
			ranked[count++] = (struct ranked_rule){rule->uses[1], i, true, wide};
	}
	qsort(ranked, count, sizeof(*ranked), by_rank);
	return count;
}

static int number(struct table_rules *rules)
{
	struct ranked_rule *ranked = calloc(rules->rows->rules.count, 2 * sizeof(*ranked));
	size_t count;

	if (!ranked)
		return -ENOMEM;
	count = rank(rules, ranked);
	for (uint32_t i = 0; i < count && count <= TABLE_MAX_RULES; i++) {
		rules->rules[ranked[i].index].numbers[ranked[i].begins] = i;
		rules->wide_count += ranked[i].wide;
	}
	rules->word_count = (uint32_t)count - rules->wide_count;
	free(ranked);
	return count <= TABLE_MAX_RULES ? 0 : -ERANGE;
}

int table_rules_init(const struct rule_rows *rows, struct table_rules *ret)
{
	struct table_rules rules = {
		.rows = rows,
		.rules = calloc(rows->rules.count, sizeof(*rules.rules)),
	};
	int r;

	if (!rules.rules)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++)
		rules.rules[rows->row[i].rule].uses[rows->row[i].begins]++;
	r = number(&rules);
	if (r)
		table_rules_fini(&rules);
	else
		*ret = rules;
	return r;
}

void table_rules_fini(struct table_rules *rules)
{
	free(rules->rules);
	*rules = (struct table_rules){0};
}

static void put_place(uint8_t *to, const struct bobbin_place *place)
{
	to = bytes_store(to, (uint32_t)place->off, 4, false);
	to[0] = place->how;
	to[1] = place->reg;
}

static void put_wide(uint8_t *to, const struct bobbin_rule *rule)
{
	put_place(to, &rule->cfa);
	put_place(to + TABLE_PLACE_SIZE, &rule->ra);
	put_place(to + 2 * TABLE_PLACE_SIZE, &rule->fp);
	bytes_store(to + TABLE_WIDE_PLUS, (uint16_t)rule->plus, 2, false);
	to[TABLE_WIDE_INDEX] = rule->index;
	to[TABLE_WIDE_FLAGS] = rule->flags;
}

void table_rules_write(const struct table_rules *rules, struct byte_buffer *out)
{
	size_t words = (size_t)rules->word_count * TABLE_WORD_SIZE;
	size_t wide = (size_t)rules->wide_count * TABLE_WIDE_SIZE;
	size_t size = words + wide + (rules->word_count + rules->wide_count + 7) / 8;
	uint8_t *to = byte_buffer_room(out, size);

	if (!to)
		return;
	byte_buffer_zeroes(out, size);
	for (size_t i = 0; i < rules->rows->rules.count; i++) {
		const struct pooled_rule *pooled = &rules->rows->rules.rules[i];
		const struct table_rule *rule = &rules->rules[i];

		for (unsigned int begins = 0; begins <= !!rule->uses[1]; begins++) {
			uint32_t number = rule->numbers[begins];

			if (number < rules->word_count)
				bytes_store(to + number * TABLE_WORD_SIZE, pooled->word, 8, false);
			else
				put_wide(to + words +
						 (number - rules->word_count) * TABLE_WIDE_SIZE,
					 &pooled->rule);
			to[words + wide + number / 8] |= (uint8_t)(begins << number % 8);
		}
	}
}
