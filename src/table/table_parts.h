/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_parts.h - a compiled table that can be looked up, and what is found.
 */
#ifndef BOBBIN_TABLE_TABLE_PARTS_H
#define BOBBIN_TABLE_TABLE_PARTS_H

#include <bobbin/arch.h>

#include "table/table_layout.h"

/**
 * struct compiled_table - a table with a sane head
 * @pairs, @words, @wide, @beginners, @index, @blocks: its parts, borrowed
 * @start, @end: addresses that it may say something about
 * @cell_count, @entry_count, @block_count, @word_count, @wide_count: of the parts
 * @arch: of the code
 * @build_id: of the file, borrowed
 * @build_id_len: its bytes, 0: unknown
 */
struct compiled_table {
	const uint8_t *pairs, *words, *wide, *beginners, *index, *blocks;
	uint64_t start, end;
	uint32_t cell_count, entry_count, block_count, word_count, wide_count;
	const struct bobbin_arch *arch;
	const uint8_t *build_id;
	uint8_t build_id_len;
};

/**
 * struct compiled_row - what holds at an address
 * @start, @end: addresses for which it holds; rows that reach into several cells are
 *	given in parts, each to the end of the cell that was looked at
 * @word: the packed rule; 0: see compiled_table_rule()
 * @number: of the rule
 * @begins: a function starts at @start
 */
struct compiled_row {
	uint64_t start, end, word;
	uint32_t number;
	bool begins;
};

#endif
