/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_builder.h - rows in ascending order become a compiled table.
 *
 *	table_builder_init(arch, build_id, length, &b);
 *	for each function
 *		table_builder_begin(&b, start);
 *		for each of its rows
 *			table_builder_rule(&b, row_start, &rule);
 *		table_builder_end(&b, end);
 *	table_builder_make(&b, &data, &size);
 *	table_builder_fini(&b);
 */
#ifndef BOBBIN_TABLE_TABLE_BUILDER_H
#define BOBBIN_TABLE_TABLE_BUILDER_H

#include <bobbin/arch.h>

#include "convert/rule_pool.h"
#include "table/table_layout.h"

/**
 * struct table_builder - a table in the making
 * @arch, @build_id, @build_id_len: of the file
 * @rows: its rows
 * @end: of the last function
 * @repeated: rows that were made of repeated ones
 * @limit: bytes that the table may have, 0: any number.  More rows than fit are not taken
 * @opened: the next row begins a function
 */
struct table_builder {
	const struct bobbin_arch *arch;
	uint8_t build_id[TABLE_BUILD_ID_MAX];
	uint8_t build_id_len;
	struct rule_rows rows;
	uint64_t end, repeated, limit;
	bool opened;
};

/*
 * Rows that repeat, such as those of stubs, are written out. A few bytes of a section can claim any
 * number of them, so this is the limit.
 */
#define TABLE_MAX_REPEATED (1u << 22)

/* Rows of a table with a limit; each takes about two of its bytes. */
#define TABLE_MOST_ROWS (1u << 23)
#define TABLE_ROW_BYTES 2

/* @build_id: @length bytes, or fewer than two for none.  0, -ENOMEM. */
int table_builder_init(const struct bobbin_arch *arch, const uint8_t *build_id, size_t length,
		       struct table_builder *ret);
void table_builder_fini(struct table_builder *builder);

/* A function starts, at or after the end of the last one.  0; -ENOMEM; -EINVAL; -E2BIG. */
int table_builder_begin(struct table_builder *builder, uint64_t start);

/*
 * A row of it starts, after the last one; the first one where the function does.  Rows
 * with equal rules that follow each other are one.  @rule: its number in the pool of @builder.
 * 0; -ENOMEM; -EINVAL; -E2BIG: the limit.
 */
int table_builder_row(struct table_builder *builder, uint64_t start, uint32_t rule);

/* The same for any rule. */
int table_builder_rule(struct table_builder *builder, uint64_t start,
		       const struct bobbin_rule *rule);

/* As table_builder_row() for a row that is one of many that repeat, which have a limit of their own. */
int table_builder_repeat(struct table_builder *builder, uint64_t start, uint32_t rule);

/* The function ends, after the start of its last row.  0; -EINVAL. */
int table_builder_end(struct table_builder *builder, uint64_t end);

/* A row after the last one, whatever it is.  0; -ENOMEM; -E2BIG. */
int table_builder_push(struct table_builder *builder, uint64_t start, uint32_t rule, bool begins);

/*
 * Add the rows of @under at addresses for which the builder has none. Both are for one machine and
 * have ended their last function. 0; -ENOMEM.
 */
int table_builder_underlay(struct table_builder *builder, const struct table_builder *under);

/*
 * Make the table.  Equal rows give equal bytes.  @data becomes the caller's.  0; -ENOMEM;
 * -ENODATA: there are no rows; -ERANGE: they have too many different rules, or are too
 * few for the addresses between them; -E2BIG: it has more bytes than its limit.
 */
int table_builder_make(const struct table_builder *builder, uint8_t **data, uint64_t *size);

#endif
