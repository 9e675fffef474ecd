/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * correction.h - replace rules of a section that contradict call-frame information.
 *
 * Linkers write SFrame and .eh_frame for their stubs independently, and some get one of them
 * wrong.
 */
#ifndef BOBBIN_CONVERT_CORRECTION_H
#define BOBBIN_CONVERT_CORRECTION_H

#include <bobbin/cfi.h>

#include "convert/merger.h"

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
