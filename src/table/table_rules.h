/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_rules.h - the different rules of a file, and their numbers in its table.
 *
 * A file has some dozens to hundreds of rules for thousands of rows, so a row names its
 * rule by a number, and the commonest rules have numbers that fit in a byte.
 */
#ifndef BOBBIN_TABLE_TABLE_RULES_H
#define BOBBIN_TABLE_TABLE_RULES_H

#include <bobbin/rule.h>

#include "base/byte_buffer.h"
#include "base/hash_index.h"

/* No rule: nothing is known of these addresses. */
#define TABLE_RULE_NONE 0u

struct table_rule {
	uint64_t word;           /* packed; 0: see @wide */
	struct bobbin_rule wide; /* that no word holds */
	uint64_t uses[2];        /* by rows inside functions, and by rows that begin them */
	uint32_t numbers[2];     /* in the table, of the two */
};

/**
 * struct table_rules - rules in the order in which they came
 * @rules, @count: them; the first is none
 * @word_count, @wide_count: of the table, once they are numbered
 */
struct table_rules {
	struct table_rule *rules;
	size_t count, capacity;
	struct hash_index index;
	uint64_t seed;
	uint32_t last; /* that was asked for */
	uint32_t word_count, wide_count;
};

/* 0, -ENOMEM. */
int table_rules_init(struct table_rules *ret);
void table_rules_fini(struct table_rules *rules);

/* The index of a packed rule, new or known.  0, -ENOMEM. */
int table_rules_of_word(struct table_rules *rules, uint64_t word, uint32_t *ret);

/* The same for any rule.  0, -ENOMEM. */
int table_rules_of_rule(struct table_rules *rules, const struct bobbin_rule *rule, uint32_t *ret);

/*
 * Number the rules by falling use, wide ones last, those that begin functions apart.  0; -ENOMEM; -ERANGE: they are too many.
 */
int table_rules_number(struct table_rules *rules);

/* Write the words, the wide rules and the beginners of the table. */
void table_rules_write(const struct table_rules *rules, struct byte_buffer *out);

#endif
