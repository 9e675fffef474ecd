/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * comparison.h - whether SFrame sections have the rules of call-frame information.
 *
 * The rules are compared at every address: wherever one of the two starts a row.
 */
#ifndef BOBBIN_CONVERT_COMPARISON_H
#define BOBBIN_CONVERT_COMPARISON_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

#include "convert/added_row.h"

/**
 * enum comparison_kind - how a range of addresses differs
 * @COMPARISON_DIFFERENT: both have rules, which differ
 * @COMPARISON_MISSING: only the call-frame information has one
 * @COMPARISON_EXTRA: only SFrame has one: where the call-frame information has
 *	none that we know, or no function at all
 * @COMPARISON_UNREADABLE: the SFrame entry is malformed
 */
enum comparison_kind {
	COMPARISON_DIFFERENT,
	COMPARISON_MISSING,
	COMPARISON_EXTRA,
	COMPARISON_UNREADABLE,
	COMPARISON_KINDS
};

/**
 * struct comparison_difference - a range of addresses
 * @start, @end: the range
 * @kind: what is wrong
 * @cfi: the rule of the call-frame information; DIFFERENT, the first rule if
 *	MISSING, and EXTRA where it says why it has none
 * @sframe: the rule of the section; DIFFERENT and EXTRA
 * @error: UNREADABLE: what and where in the section
 */
struct comparison_difference {
	uint64_t start, end;
	enum comparison_kind kind;
	struct bobbin_rule cfi, sframe;
	struct bobbin_error error;
};

/**
 * struct comparison - what to compare, and the result
 * @cfi, @cfi_count: as for convert_cfi()
 * @added: what the sections are to have where the call-frame information has no function
 * @sframe, @sframe_count: the sections; the first that covers an address counts
 * @differ: called for each difference, or NULL
 * @ctx: for @differ
 * @rows: rows of the call-frame information that were compared
 * @ranges, @bytes: differences by kind, and their sizes
 *
 * Fill in all but the last line.
 */
struct comparison {
	const struct bobbin_cfi_view *cfi;
	unsigned int cfi_count;
	struct added_rows added;
	const struct bobbin_sframe_view *sframe;
	unsigned int sframe_count;
	void (*differ)(void *ctx, const struct comparison_difference *difference);
	void *ctx;
	uint64_t rows, ranges[COMPARISON_KINDS], bytes[COMPARISON_KINDS];
};

/*
 * Compare.  Rules are looked up as walkers look them up.  Time grows with the rows
 * of the call-frame information and with n log n of the sections' functions and
 * rows, however many sections there are.  Where functions' rows repeat and are
 * wrong more than 65536 times, the rest of such a function counts as one
 * difference.  0, -ENOMEM.
 */
int comparison_run(struct comparison *comparison);

/*
 * Whether a section that was made of @cfi and @added, or NULL, has the same rule at each address, or
 * none.  0; -EBADMSG: it has another one somewhere, or is malformed; -ENOMEM.
 */
int comparison_prove(const struct bobbin_cfi_view *cfi, unsigned int count,
		     const struct added_rows *added, const void *data, uint64_t size,
		     uint64_t addr);

/* Whether two rules find the same caller. */
bool comparison_equal(const struct bobbin_rule *a, const struct bobbin_rule *b);

#endif
