/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * draft_stream.h - a stream whose bytes go to a draft.
 */
#ifndef BOBBIN_BASE_DRAFT_STREAM_H
#define BOBBIN_BASE_DRAFT_STREAM_H

#include <errno.h>
#include <stdio.h>

#include "base/draft.h"

static inline ssize_t draft_stream_write(void *cookie, const char *bytes, size_t size)
{
	const int r = draft_write((struct draft *)cookie, bytes, size);

	if (!r)
		return (ssize_t)size;
	errno = -r;
	return 0;
}

/* The caller closes it before the draft is committed or discarded.  NULL: no memory. */
static inline FILE *draft_stream(struct draft *draft)
{
	return fopencookie(draft, "w", (cookie_io_functions_t){.write = draft_stream_write});
}

#endif
