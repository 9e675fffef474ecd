/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_names.h - the functions and files of frames of the own process, in a context in which
 * nothing can be allocated.
 *
 * Names are as symbol tables spell them.  A file that may be another than the mapped one is not
 * read: no name is better than a wrong one.
 */
#ifndef BOBBIN_CRASH_FRAME_NAMES_H
#define BOBBIN_CRASH_FRAME_NAMES_H

#include <bobbin/frame.h>

#include "crash/code_mappings.h"
#include "crash/symbol_search.h"

/* Of one trace, at most. */
#define FRAME_NAMES_MAX 256
#define FRAME_NAMES_TEXT (1024 * 1024)
#define FRAME_NAMES_KEPT 1024 /* a power of two */

struct frame_name {
	uint64_t pc;      /* that was looked up */
	const char *path; /* NULL: no file is mapped there */
	const char *name; /* of the function; NULL: it is not known */
	uint64_t offset;  /* in the function, of @pc */
	uint64_t address; /* of @pc, as the file says it; 0: it is not known */
	bool kept;        /* it was looked up for an earlier trace */
};

/* Zero: nothing is known. */
struct frame_names {
	struct code_mappings mappings;
	struct frame_name kept[FRAME_NAMES_KEPT]; /* by PC: threads mostly are at the same places */
	struct frame_name names[FRAME_NAMES_MAX]; /* of the last trace */
	struct symbol_query queries[FRAME_NAMES_MAX];
	uint32_t asked[FRAME_NAMES_MAX]; /* whose query it is */
	uint64_t deadline;               /* when names are looked up no more */
	size_t used;                     /* of @text */
	char text[FRAME_NAMES_TEXT];
};

/* The mappings are those of now; all lookups together take at most some seconds. */
void frame_names_begin(struct frame_names *names);

/* Fill in names->names for the frames of a trace, at most FRAME_NAMES_MAX. */
void frame_names_find(struct frame_names *names, const struct bobbin_frame *frames, uint32_t count);

#endif
