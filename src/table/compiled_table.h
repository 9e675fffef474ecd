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

#include "table/table_parts.h"

/*
 * Check the head of a table, which is at a multiple of TABLE_BLOCK_SIZE for speed, and is borrowed.
 * 0; -EBADMSG with a reason in @err, or NULL; @ret is untouched on failure.
 */
int compiled_table_init(const void *data, uint64_t size, struct bobbin_error *err,
			struct compiled_table *ret);

/*
 * The row at an address in the file's own space.  0; -ENOENT: nothing is known of it; -EBADMSG: the
 * table is malformed; @ret is undefined on failure.
 */
int compiled_table_find(const struct compiled_table *table, uint64_t vaddr,
			struct compiled_row *ret);

/* The rule of a row.  0; -EBADMSG: the table is malformed. */
int compiled_table_rule(const struct compiled_table *table, const struct compiled_row *row,
			struct bobbin_rule *ret);

/* Rows that are looked at to find where a function begins. */
#define TABLE_FUNCTION_ROWS 65536

/*
 * Where the function begins to which a row belongs that was found; or a later row, if the function
 * has too many before it.
 */
uint64_t compiled_table_function(const struct compiled_table *table,
				 const struct compiled_row *row);

/*
 * A rule by its number, of a table of which only the rules are looked at.  0; -ENOENT: nothing is
 * known where it holds; -EBADMSG: there is no such number, or the table is malformed; @ret is
 * undefined on failure.
 */
int compiled_table_number(const struct compiled_table *table, uint32_t number,
			  struct bobbin_rule *ret);

/* Whether functions begin with rows that have a number of the table. */
bool compiled_table_begins(const struct compiled_table *table, uint32_t number);

/* Whether nothing is known where rows with a number hold; other numbers than the table's: no. */
bool compiled_table_is_none(const struct compiled_table *table, uint32_t number);

#endif
