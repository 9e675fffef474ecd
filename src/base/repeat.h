/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat.h - what recurs in a row.
 *
 *	main walk visit walk visit walk visit leaf	walk visit: three times
 *
 * Recursion fills stacks with the same few entries again and again.
 */
#ifndef BOBBIN_BASE_REPEAT_H
#define BOBBIN_BASE_REPEAT_H

#include <stdbool.h>
#include <stddef.h>

#define REPEAT_MAX_PERIOD 8

/* Entries that stand in a row @times times: at least twice. */
struct repeat {
	size_t period, times;
};

/*
 * Whether entries from @at on, up to @end, recur; of the periods up to REPEAT_MAX_PERIOD @ret gets
 * the one that covers most, and is untouched if there is none.  @same: whether two entries are
 * equal. Going over all entries, past each repeat that is found, takes time proportional to their
 * number.
 */
bool repeat_find(bool (*same)(const void *ctx, size_t a, size_t b), const void *ctx, size_t at,
		 size_t end, struct repeat *ret);

#endif
