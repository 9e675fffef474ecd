/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_rules.h - the numbers that rules have in a table.
 *
 * The commonest rules have numbers that fit in a byte.  A rule has one number for rows inside
 * functions, and another for rows that begin functions.
 */
#ifndef BOBBIN_TABLE_TABLE_RULES_H
#define BOBBIN_TABLE_TABLE_RULES_H

#include "base/byte_buffer.h"
#include "convert/rule_pool.h"

/* A rule, for rows inside functions and for those that begin functions. */
struct table_rule {
	uint64_t uses[2];
	uint32_t numbers[2];
};

/**
 * struct table_rules - the rules of a table
 * @rows: whose rules they are
 * @rules: by their numbers in the pool of @rows
 * @word_count, @wide_count: numbers of rules that a word holds and, after them, of others
 */
struct table_rules {
	const struct rule_rows *rows;
	struct table_rule *rules;
	uint32_t word_count, wide_count;
};

/* Number the rules of rows by falling use.  0; -ENOMEM; -ERANGE: they are too many. */
int table_rules_init(const struct rule_rows *rows, struct table_rules *ret);
void table_rules_fini(struct table_rules *rules);

/* The number of a row's rule in the table. */
static inline uint32_t table_rules_number(const struct table_rules *rules,
					  const struct rule_row *row)
{
	return rules->rules[row->rule].numbers[row->begins];
}

/* Write the words, the wide rules and the beginners of the table. */
void table_rules_write(const struct table_rules *rules, struct byte_buffer *out);

#endif
