/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_pairs.h - the commonest pairs of a distance and a rule, each of which is a token.
 */
#ifndef BOBBIN_TABLE_TABLE_PAIRS_H
#define BOBBIN_TABLE_TABLE_PAIRS_H

#include "table/table_layout.h"
#include "table/table_rules.h"

/* Distances of pairs: they are in a byte. */
#define PAIR_LIMIT 256u
/* Rules of pairs: others are too rare. */
#define PAIR_RULES 64u

/* Instead of a token of a pair: there is none. */
#define NO_PAIR TABLE_FIRST_PLAIN

/**
 * struct table_pairs - the pairs of a table
 * @bytes: the part of the table
 * @tokens: of pairs, by number and distance
 * @rule_tokens: of any pair with a rule, by number
 */
struct table_pairs {
	uint8_t bytes[TABLE_PAIRS_SIZE];
	uint8_t tokens[PAIR_RULES][PAIR_LIMIT];
	uint8_t rule_tokens[PAIR_RULES];
};

/* 0, -ENOMEM. */
int table_pairs_choose(const struct table_rules *rules, struct table_pairs *ret);

/* The token of a row at a distance from the one before, or NO_PAIR. */
static inline uint8_t pair_token(const struct table_pairs *pairs, uint64_t distance,
				 uint32_t number)
{
	return distance < PAIR_LIMIT && number < PAIR_RULES ? pairs->tokens[number][distance]
							    : NO_PAIR;
}

/* The token of a row that stands where something else says, or NO_PAIR. */
static inline uint8_t rule_token(const struct table_pairs *pairs, uint32_t number)
{
	return number < PAIR_RULES ? pairs->rule_tokens[number] : NO_PAIR;
}

#endif
