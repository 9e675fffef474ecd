/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_repair.h - sections with wrong headers, or with rules that call-frame information denies.
 *
 * The functions tell where their rows are.  If the header disagrees, the functions count,
 * provided that everything fits then:
 *
 *	too many entries for their space	as many as there is space for
 *	rows after the end			the end is moved, if all rows can
 *						be read then and a section, or
 *						nothing, follows
 *	another section before the end		the end is moved there
 *	no header at all			the next one is looked for
 *
 * Rules are replaced that contradict call-frame information: linkers write SFrame and .eh_frame for
 * their stubs independently, and some get one of them wrong.
 */
#ifndef BOBBIN_CONVERT_SECTION_REPAIR_H
#define BOBBIN_CONVERT_SECTION_REPAIR_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

#include "convert/merger.h"

/**
 * struct section_walk - where a walk is
 * @data: the bytes of all sections; headers are changed where they are wrong
 * @size: their number
 * @addr: address of @data
 * @pos: offset of what comes next
 * @rows_left: rows that may still be read to find out what is wrong
 * @note: called for each thing that was corrected or left out; @offset is from
 *	@data
 * @ctx: for @note
 */
struct section_walk {
	uint8_t *data;
	uint64_t size, addr, pos, rows_left;
	void (*note)(void *ctx, uint64_t offset, enum bobbin_reason reason);
	void *ctx;
};

/* Start a walk; fill in @note and @ctx before the first step. */
struct section_walk section_walk(uint8_t *data, uint64_t size, uint64_t addr);

/* The next section.  1, or 0 at the end. */
int section_walk_next(struct section_walk *walk, struct bobbin_sframe_view *ret);

/**
 * struct correction - what to correct
 * @cfi, @cfi_count: as for convert_cfi()
 * @options: of the result; its report is not called
 * @corrected: called for each range whose rule was replaced (@expressible), or
 *	contradicts a rule that the section's version cannot express and stays; or
 *	NULL
 * @ctx: for @corrected
 */
struct correction {
	const struct bobbin_cfi_view *cfi;
	unsigned int cfi_count;
	struct merge_options options;
	void (*corrected)(void *ctx, uint64_t start, uint64_t end, bool expressible);
	void *ctx;
};

/* Correct a section.  @data becomes the caller's.  Errors as merge_sections(). */
int correct_section(const struct correction *correction, const struct bobbin_sframe_view *view,
		    uint8_t **data, uint64_t *size);

#endif
