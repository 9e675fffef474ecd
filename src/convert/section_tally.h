/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_tally.h - the numbers of things in a section.
 */
#ifndef BOBBIN_CONVERT_SECTION_TALLY_H
#define BOBBIN_CONVERT_SECTION_TALLY_H

#include <bobbin/sframe.h>

#include "base/coverage.h"

/**
 * struct section_tally - numbers
 * @sections: sections that were counted
 * @bytes: of the sections by their headers
 * @functions: of these, @flex, @repeating and @signals are what the names say,
 *	and @empty have no rows
 * @rows: rows, of which @outermost have no caller
 * @malformed: functions whose entry or rows cannot be read, or which have an absurd number
 *	of rows
 * @covered: the functions' addresses
 */
struct section_tally {
	uint64_t sections, bytes;
	uint64_t functions, flex, repeating, signals, empty;
	uint64_t rows, outermost;
	uint64_t malformed;
	struct coverage covered;
};

/* Count a section, too.  Start with {0}.  0, -ENOMEM. */
int section_tally_add(struct section_tally *tally, const struct bobbin_sframe_view *view);
void section_tally_fini(struct section_tally *tally);

#endif
