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
