/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_pool.h - the different rules of a file's rows, each with a number.
 *
 * A file has a few hundred rules for many thousands of rows.  A row has the number of its rule,
 * and what a writer computes from a rule is computed once and kept in an array by number.
 */
#ifndef BOBBIN_CONVERT_RULE_POOL_H
#define BOBBIN_CONVERT_RULE_POOL_H

#include <bobbin/rule.h>

#include "base/hash_index.h"
#include "base/vector.h"

/* The number of the first rule of each pool: nothing is known of these addresses. */
#define RULE_NONE 0u

/* A rule; @word: packed, or 0 if no word holds it. */
struct pooled_rule {
	uint64_t word;
	struct bobbin_rule rule;
};

/* Rules in a table before the index, by a part of a hash of their words. */
#define RECENT_BITS 8

struct recent_rule {
	uint64_t word;
	uint32_t number;
};

/**
 * struct rule_pool - rules in the order in which they came
 * @rules, @count: them, by number
 * @index: their numbers
 * @seed: of hashes
 * @recent: packed rules that were found last
 */
struct rule_pool {
	struct pooled_rule *rules;
	size_t count, capacity;
	struct hash_index index;
	uint64_t seed;
	struct recent_rule recent[1 << RECENT_BITS];
};

/* 0, -ENOMEM. */
int rule_pool_init(struct rule_pool *ret);
void rule_pool_fini(struct rule_pool *pool);

/* The number of a rule, new or known.  0, -ENOMEM. */
int rule_pool_of_rule(struct rule_pool *pool, const struct bobbin_rule *rule, uint32_t *ret);

/* The same for a packed rule that was not found last. */
int rule_pool_search(struct rule_pool *pool, uint64_t word, uint32_t *ret);

/* The number of a packed rule; that of 0 is RULE_NONE.  0, -ENOMEM. */
static inline int rule_pool_of_word(struct rule_pool *pool, uint64_t word, uint32_t *ret)
{
	const uint64_t hash = word * 0x9e3779b97f4a7c15;
	struct recent_rule *recent = &pool->recent[hash >> (64 - RECENT_BITS)];
	int r = 0;

	if (recent->word != word) {
		r = rule_pool_search(pool, word, &recent->number);
		recent->word = r ? 0 : word;
	}
	*ret = recent->number;
	return r;
}

static inline uint64_t rule_hash_place(const struct bobbin_place *p, uint64_t seed)
{
	return hash_words((uint32_t)p->off, (uint64_t)p->how << 8 | p->reg, seed);
}

/* Equal rules have equal hashes. */
static inline uint64_t rule_hash(const struct bobbin_rule *rule, uint64_t seed)
{
	seed = rule_hash_place(&rule->cfa, seed ^ rule->flags);
	return rule_hash_place(&rule->fp, rule_hash_place(&rule->ra, seed));
}

/**
 * struct rule_row - a row, which ends where the next one starts
 * @start: its first address
 * @rule: the number of its rule
 * @begins: a function begins with it; false where functions are listed beside the rows
 */
struct rule_row {
	uint64_t start;
	uint32_t rule;
	bool begins;
};

/**
 * struct rule_rows - rows and their rules
 * @rules: by their numbers
 * @row, @count: the rows
 */
struct rule_rows {
	struct rule_pool rules;
	struct rule_row *row;
	size_t count, capacity;
};

/* 0, -ENOMEM. */
static inline int rule_rows_init(struct rule_rows *ret)
{
	*ret = (struct rule_rows){0};
	return rule_pool_init(&ret->rules);
}

static inline void rule_rows_fini(struct rule_rows *rows)
{
	rule_pool_fini(&rows->rules);
	free(rows->row);
	*rows = (struct rule_rows){0};
}

/* Add a row after all others.  0, -ENOMEM. */
static inline int rule_rows_push(struct rule_rows *rows, struct rule_row row)
{
	return vector_push(rows->row, rows->count, rows->capacity, row);
}

/* A row with any rule; it replaces one before it that starts at the same place.  0, -ENOMEM. */
static inline int rule_rows_put(struct rule_rows *rows, uint64_t start,
				const struct bobbin_rule *rule)
{
	struct rule_row row = {.start = start};

	if (rule_pool_of_rule(&rows->rules, rule, &row.rule))
		return -ENOMEM;
	if (rows->count && rows->row[rows->count - 1].start == start)
		rows->count--;
	return rule_rows_push(rows, row);
}

/* The rule of a row. */
static inline const struct bobbin_rule *rule_rows_rule(const struct rule_rows *rows, size_t i)
{
	return &rows->rules.rules[rows->row[i].rule].rule;
}

#endif
