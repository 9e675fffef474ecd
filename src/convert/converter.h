/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * converter.h - call-frame information becomes an SFrame section.
 *
 *	.eh_frame, .debug_frame ── FDEs by address ─┐
 *	added rows ─────────────────────────────────┴─ words ── functions ── section
 *
 * Each FDE becomes one function where that is possible.  Rows that SFrame cannot express are
 * left out, which splits the function; linkers' lazy-binding stubs become a function whose
 * rows repeat.  Finally, compact_functions() chooses the FDEs that take the fewest bytes for
 * these rows: parts of functions and, if rows are shared, several functions in one.
 */
#ifndef BOBBIN_CONVERT_CONVERTER_H
#define BOBBIN_CONVERT_CONVERTER_H

#include <bobbin/cfi.h>

#include "convert/added_row.h"
#include "convert/function_list.h"

/**
 * struct convert_gap - addresses without a row in the section, although there is a rule
 * @start, @end: addresses
 * @added: of an added row; or else there is an FDE:
 * @fde: offset of the FDE in its section
 * @debug_frame: which is .debug_frame
 * @reason: why
 * @rows: rows lost
 */
struct convert_gap {
	uint64_t start, end, fde;
	bool added, debug_frame;
	enum bobbin_reason reason;
	uint32_t rows;
};

/**
 * struct convert_options - what to make
 * @version: 2 or 3
 * @share: functions with equal rows share them
 * @keep_functions: one function for each FDE where that is possible, even if
 *	others would take fewer bytes
 * @in_place: the section is used where it is made, not at @addr; V3 only
 * @floating: addresses are not final, not even modulo 16: lazy-binding stubs are
 *	left out
 * @addr: address that the section will have
 * @bounds, @bound_count: ascending addresses across which no rows are shared
 * @added: rows beside those of the call-frame information
 * @arch: of the section; NULL: that of the first view, even if there are none
 * @gap: called for each gap, or NULL
 * @ctx: for @gap
 */
struct convert_options {
	unsigned int version;
	bool share, keep_functions, in_place, floating;
	uint64_t addr;
	const uint64_t *bounds;
	size_t bound_count;
	struct added_rows added;
	const struct bobbin_arch *arch;
	void (*gap)(void *ctx, const struct convert_gap *gap);
	void *ctx;
};

/**
 * struct convert_stats - what was done
 * @fdes: live FDEs of all sections, see struct bobbin_cfi_view
 * @dead: FDEs that are not live, and were skipped
 * @cfi_rows: their rows
 * @functions: FDEs of the result
 * @rows: in the result; equal rows that follow each other are one
 * @split: FDEs that cannot be one function or lost a part
 * @lost_fdes: FDEs that became none
 * @lost_rows: rows of the CFI that are not in the result; a malformed or unusable
 *	FDE counts as one
 * @text: bytes of code that the FDEs cover
 * @lost_text: bytes of those that the result does not cover
 * @reasons: lost rows by reason
 * @lost_added: added rows that are not in the result; all other losses are those of FDEs
 */
struct convert_stats {
	uint64_t fdes, dead, cfi_rows, functions, rows;
	uint64_t split, lost_fdes, lost_rows;
	uint64_t text, lost_text, lost_added;
	uint64_t reasons[BOBBIN_REASON_COUNT];
};

/*
 * Convert the live FDEs of sections of one file, if it has any, and what is to be added.  Where
 * sections overlap, the first in @views counts.
 *
 * @data becomes the caller's.  0; -EINVAL for an unknown version; -ENOMEM;
 * -ERANGE if the section would be too large.
 */
int convert_cfi(const struct bobbin_cfi_view *views, unsigned int count,
		const struct convert_options *options, struct convert_stats *stats, uint8_t **data,
		uint64_t *size);

#endif
