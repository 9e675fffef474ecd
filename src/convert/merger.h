/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * merger.h - merge SFrame sections into one that is sorted and has no duplicates.
 *
 *	views ── functions ── who covers what ── pieces ── section
 *
 * Nothing is trusted: functions whose rows cannot be read, functions without code or outside
 * of the text, duplicates and overlaps are dropped or clipped, and each of them is reported.
 * Where functions overlap, that of the earlier view wins, and within a view the one that
 * starts last or else the later entry, as in lookups.  Every PC keeps its rule, and after a
 * function inside another, where a search in a sorted section finds nothing, the outer one
 * continues.
 */
#ifndef BOBBIN_CONVERT_MERGER_H
#define BOBBIN_CONVERT_MERGER_H

#include <bobbin/range.h>
#include <bobbin/sframe.h>

#include "convert/function_list.h"

/*
 * Functions may share rows, so that a small section can claim a huge number of
 * them.  One that shares nothing has at most half a row for each of its bytes;
 * this many are taken for each byte of all views, and some in any case.
 */
#define MERGE_ROWS_PER_BYTE 4
#define MERGE_ROWS_ALWAYS 65536

enum merge_fate {
	MERGE_CLIPPED, /* a part is left */
	MERGE_DROPPED,
};

/**
 * struct merge_report - a function that is not in the result as it was
 * @view: index of its section
 * @offset: of its entry, or of the row that cannot be read, in the section
 * @start, @size: as the entry says
 * @left: bytes of code that are left to it
 * @fate: what became of it
 * @reason: why
 */
struct merge_report {
	uint32_t view;
	uint64_t offset, start;
	uint32_t size, left;
	enum merge_fate fate;
	enum bobbin_reason reason;
};

/**
 * struct merge_options - what to make
 * @version: 2 or 3
 * @share: functions with equal rows share them
 * @addr: address that the section will have
 * @texts: where functions may lie, ascending and without overlaps; NULL:
 *	anywhere
 * @text_count: their number
 * @report: called for each function that is dropped or clipped, in the order of
 *	the views' entries; or NULL
 * @ctx: for @report
 * @take: called for each function of the result, with its rows, instead of a section being made;
 *	what is not 0 ends this and is returned; or NULL
 * @take_ctx: for @take
 */
struct merge_options {
	unsigned int version;
	bool share;
	uint64_t addr;
	const struct bobbin_range *texts;
	size_t text_count;
	void (*report)(void *ctx, const struct merge_report *report);
	void *ctx;
	int (*take)(void *ctx, const struct listed_function *function,
		    const struct rule_rows *rows);
	void *take_ctx;
};

/**
 * struct merge_stats - what was done
 * @functions: in the views
 * @rows: of them
 * @clipped, @dropped: functions that were
 * @pieces: functions of the result
 */
struct merge_stats {
	uint64_t functions, rows, clipped, dropped, pieces;
};

/*
 * Merge @count sections, at least one, of one architecture.  Time is n log n in
 * functions and linear in rows, memory linear in the views' bytes.
 *
 * @data becomes the caller's, unless there is @take.  0; -EINVAL for an unknown version or
 * different architectures; -E2BIG if functions claim more rows than is sane; -ERANGE if the section
 * would be too large; -ENOMEM.
 */
int merge_sections(const struct bobbin_sframe_view *views, uint32_t count,
		   const struct merge_options *options, struct merge_stats *stats, uint8_t **data,
		   uint64_t *size);

#endif
