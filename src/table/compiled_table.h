/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compiled_table.h - all rules of a file in their dense form, to be looked up.
 *
 * It says what the sections say that it was compiled from, in about a quarter of the bytes of
 * .eh_frame.  Freestanding, and safe in every context: a table is bytes that nobody
 * vouches for, and a lookup trusts only what it has checked.
 */
#ifndef BOBBIN_TABLE_COMPILED_TABLE_H
#define BOBBIN_TABLE_COMPILED_TABLE_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "table/table_layout.h"

/**
 * struct compiled_table - a table with a sane head
 * @pairs, @words, @wide, @beginners, @lines, @blocks: its parts, borrowed
 * @start, @end: addresses that it may say something about
 * @chunk_count, @line_count, @block_count, @word_count, @wide_count: of the parts
 * @arch: of the code
 * @build_id: of the file, borrowed
 * @build_id_len: its bytes, 0: unknown
 */
struct compiled_table {
	const uint8_t *pairs, *words, *wide, *beginners, *lines, *blocks;
	uint64_t start, end;
	uint32_t chunk_count, line_count, block_count, word_count, wide_count;
	const struct bobbin_arch *arch;
	const uint8_t *build_id;
	uint8_t build_id_len;
};

/**
 * struct compiled_row - what holds at an address
 * @start, @end: addresses for which it holds; rows that reach into several chunks are
 *	given in parts
 * @word: the packed rule; 0: see compiled_table_rule()
 * @number: of the rule
 * @begins: a function starts at @start
 */
struct compiled_row {
	uint64_t start, end, word;
	uint32_t number;
	bool begins;
};

/**
 * compiled_table_init() - check the head of a table
 * @data: the table, at a multiple of TABLE_BLOCK_SIZE for speed
 * @size: its bytes
 * @err: where and why on failure, or NULL
 * @ret: the table, which borrows @data; untouched on failure
 *
 * Return: 0; -EBADMSG with a reason.
 */
int compiled_table_init(const void *data, uint64_t size, struct bobbin_error *err,
			struct compiled_table *ret);

/**
 * compiled_table_find() - the row at an address
 * @table: a table
 * @vaddr: the address, in the file's own space
 * @ret: the row; undefined on failure
 *
 * Return: 0; -ENOENT: nothing is known of @vaddr; -EBADMSG: the table is malformed.
 */
int compiled_table_find(const struct compiled_table *table, uint64_t vaddr,
			struct compiled_row *ret);

/**
 * compiled_table_rule() - the rule of a row
 * @table: a table
 * @row: of it
 * @ret: the rule
 *
 * Return: 0; -EBADMSG: the table is malformed.
 */
int compiled_table_rule(const struct compiled_table *table, const struct compiled_row *row,
			struct bobbin_rule *ret);

#endif
