/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_rows.h - rows on their way from a reader of unwind tables to a writer.
 */
#ifndef BOBBIN_CONVERT_RULE_ROWS_H
#define BOBBIN_CONVERT_RULE_ROWS_H

#include "base/vector.h"
#include "convert/rule_pool.h"

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
