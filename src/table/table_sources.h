/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_sources.h - all that a file says about its code becomes the rows of one table.
 */
#ifndef BOBBIN_TABLE_TABLE_SOURCES_H
#define BOBBIN_TABLE_TABLE_SOURCES_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

#include "convert/merger.h"
#include "table/table_builder.h"

/*
 * Add the rows of the live FDEs of sections of one file to an empty builder.  Where sections
 * overlap, the first in @views says what holds.  An FDE that is malformed ends there, and
 * says so in the row.
 *
 * @rows: rows of the sections, or NULL
 *
 * 0; -ENOMEM; -E2BIG: too many rows repeat, or the builder's limit.
 */
int compile_cfi_rows(const struct bobbin_cfi_view *views, unsigned int count,
		     struct table_builder *builder, uint64_t *rows);

/*
 * Make a table of them.
 *
 * @limit: bytes that it may have, 0: any number.  Rows that do not fit are refused early
 * @rows: rows of the sections, or NULL
 * @data: the table, which becomes the caller's
 *
 * 0; otherwise as compile_cfi_rows() and table_builder_make().
 */
int compile_cfi(const struct bobbin_cfi_view *views, unsigned int count, const uint8_t *build_id,
		size_t build_id_len, uint64_t limit, uint64_t *rows, uint8_t **data,
		uint64_t *size);

/**
 * struct table_sources - sections of one file, in the order in which walks ask them
 * @arch: of the file
 * @sframe, @sframe_count: those of its .sframe
 * @cfi, @cfi_count: .eh_frame, .debug_frame; they hold where .sframe has no row
 * @sane_stubs: no row is taken from functions of .sframe that SFRAME_STUB is said of
 * @report: called for each function of .sframe that is dropped or clipped, in the order of its
 *	entries; or NULL
 * @ctx: for @report
 */
struct table_sources {
	const struct bobbin_arch *arch;
	const struct bobbin_sframe_view *sframe;
	unsigned int sframe_count;
	const struct bobbin_cfi_view *cfi;
	unsigned int cfi_count;
	bool sane_stubs;
	void (*report)(void *ctx, const struct merge_report *report);
	void *ctx;
};

/*
 * Add their rows to an empty builder.  0; -ENOMEM; -E2BIG: too many rows repeat, or
 * functions that share rows claim too many; -EBADMSG: functions of SFrame sections cannot be
 * put in ascending order; other errors as merge_sections().
 */
int table_sources_rows(const struct table_sources *sources, struct table_builder *builder);

/*
 * Make a table of SFrame sections of one architecture, which says what lookups in them say: the
 * first one that has a row counts.  But nothing is taken from functions of linkers' stubs of which
 * the sections say what cannot be, as in unwind/indexed_sections.h.
 *
 * @limit: bytes that the table may have
 * @data: the table, which becomes the caller's
 *
 * 0; -EBADMSG: functions are malformed, or overlap in a way that a table cannot tell; -ENODATA:
 * there are no rows; otherwise as table_sources_rows() and table_builder_make().
 */
int compile_sframe(const struct bobbin_sframe_view *views, unsigned int count, uint64_t limit,
		   uint8_t **data, uint64_t *size);

#endif
