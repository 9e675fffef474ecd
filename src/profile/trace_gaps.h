/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_gaps.h - call chains without what recurs, and with what a walk left out.
 *
 *	leaf f f f … f f main			leaf f f main, and: before main, 97 of the 1 before
 *	leaf f g h … z main (--max-stack)	leaf f g (address 0) z main, and: 0 stands for 50
 *
 * A recursion recorded level by level is a file full of the same few addresses.  Chains that
 * perf reads to their ends stay whole: perf knows nothing of gaps.
 */
#ifndef BOBBIN_PROFILE_TRACE_GAPS_H
#define BOBBIN_PROFILE_TRACE_GAPS_H

#include <bobbin/unwind.h>

#define TRACE_GAPS_MAX 16
/* Entries that perf's readers take by default: PERF_MAX_STACK_DEPTH of linux/perf_event.h. */
#define TRACE_WHOLE_MAX 127
/* A chain is longer than its trace by the entry of address 0. */
#define TRACE_CHAIN_MAX (BOBBIN_MAX_DEPTH + 1)

/*
 * struct trace_gap - frames that a chain lacks
 * @at: they would stand before this entry
 * @period: they repeat so many entries before it; 0: they were left out by the walk, and the
 *	entry itself is a mark without an address
 * @count: how many they are
 */
struct trace_gap {
	uint16_t at, period;
	uint32_t count;
};

struct trace_gaps {
	uint32_t count;
	struct trace_gap gaps[TRACE_GAPS_MAX]; /* @at ascends */
};

/*
 * Make the user part of a sample a chain: take out what repeats, if it has more than
 * TRACE_WHOLE_MAX frames, and what stands for frames that were left out.
 */
void trace_gaps_take(struct bobbin_trace *trace, struct trace_gaps *ret);

#endif
