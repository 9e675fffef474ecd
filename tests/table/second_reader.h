/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * second_reader.h - a reader of compiled tables that knows docs/compiled-table.md only.
 */
#ifndef TEST_SECOND_READER_H
#define TEST_SECOND_READER_H

#include <stdbool.h>
#include <stdint.h>

enum second_answer {
	SECOND_FOUND,
	SECOND_UNKNOWN, /* no rule is known there */
	SECOND_NO_RULE, /* it is stated that there is no rule, and @reason why */
	SECOND_MALFORMED,
};

/* Where a value is, as the document's tables number it. */
enum second_how {
	SECOND_SAME = 1,
	SECOND_NOWHERE,
	SECOND_WORD_AT_CFA,
	SECOND_CFA_PLUS,
	SECOND_REGISTER_PLUS,
	SECOND_WORD_AT_REGISTER,
	SECOND_PC_PLUS,
};

/* Offsets in bytes. */
struct second_place {
	enum second_how how;
	unsigned int reg;
	int64_t offset;
};

struct second_row {
	uint64_t start, end; /* of the piece */
	struct second_place cfa, ra, fp;
	int64_t plus;
	int index; /* -1: none */
	unsigned int flags, reason;
	bool begins;
};

/* The bytes are borrowed. */
struct second_table {
	const uint8_t *bytes;
	uint64_t size, start, end;
	uint64_t cells, entries, blocks, words, wide;
	uint64_t words_at, wide_at, beginners_at, index_at, blocks_at;
};

/* Look at the head; false: it is malformed. */
bool second_open(const uint8_t *bytes, uint64_t size, struct second_table *ret);

/* What the table says of an address. */
enum second_answer second_lookup(const struct second_table *t, uint64_t address,
				 struct second_row *ret);

#endif
