/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that a pair saves: that of the rule, or those of a part. */
#define RULE_GAIN 1u
#define PART_GAIN 3u

struct counted_pair {
	uint64_t gain;
	uint32_t number, distance;
};

static int by_gain(const void *a, const void *b)
{
	const struct counted_pair *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static void count_pairs(const struct table_rules *rules, struct counted_pair *pairs)
{
	const struct rule_rows *rows = rules->rows;

	for (size_t i = 1; i < rows->count; i++) {
		uint64_t distance = rows->row[i].start - rows->row[i - 1].start;
		uint32_t number = table_rules_number(rules, &rows->row[i]);

		if (distance < PAIR_LIMIT && number < PAIR_RULES)
			pairs[number * PAIR_LIMIT + distance].gain += distance > TABLE_PLAIN_MAX
									      ? PART_GAIN
									      : RULE_GAIN;
	}
}

/* Those that are used, the best ones first; how many. */
static size_t rank_pairs(struct counted_pair *pairs)
{
	size_t used = 0;

	for (uint32_t i = 0; i < PAIR_RULES * PAIR_LIMIT; i++)
		if (pairs[i].gain)
			pairs[used++] = (struct counted_pair){pairs[i].gain, i / PAIR_LIMIT,
							      i % PAIR_LIMIT};
	qsort(pairs, used, sizeof(*pairs), by_gain);
	return used;
}

static void name_pair(struct table_pairs *to, const struct counted_pair *pair, uint8_t token)
{
	to->bytes[token] = (uint8_t)pair->distance;
	to->bytes[TABLE_DISTANCES_SIZE + token] = (uint8_t)pair->number;
	to->tokens[pair->number][pair->distance] = token;
	to->rule_tokens[pair->number] = token;
}

int table_pairs_choose(const struct table_rules *rules, struct table_pairs *ret)
{
	struct counted_pair *pairs = calloc(PAIR_RULES * PAIR_LIMIT, sizeof(*pairs));
	size_t used;

	if (!pairs)
		return -ENOMEM;
	memset(ret->bytes, 0, sizeof(ret->bytes));
	memset(ret->tokens, NO_PAIR, sizeof(ret->tokens));
	memset(ret->rule_tokens, NO_PAIR, sizeof(ret->rule_tokens));
	for (unsigned int i = 0; i < TABLE_PLAIN_MAX; i++)
		ret->bytes[TABLE_FIRST_PLAIN + i] = (uint8_t)(i + 1);
	count_pairs(rules, pairs);
	used = rank_pairs(pairs);
	for (size_t i = 0; i < used && i < TABLE_FIRST_PLAIN; i++)
		name_pair(ret, &pairs[i], (uint8_t)i);
	free(pairs);
	return 0;
}
