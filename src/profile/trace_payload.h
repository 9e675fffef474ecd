/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_payload.h - what a perf.data callchain cannot say.
 *
 * Samples that bobbin unwound carry in PERF_SAMPLE_RAW why the user part of
 * the trace ended and, for each of its frames, where the rule came from:
 *
 *	0  u8	version, 1
 *	1  u8	enum bobbin_reason
 *	2  u16	number of frames, native byte order
 *	4  u8[]	enum bobbin_source, 0x80: the PC is exact; leaf first
 *	   u8	number of gaps; absent, or 0, where there are none
 *	   each	u16 at, u16 period, u32 count: see struct trace_gap
 *
 * Readers that do not know it skip it.  Gaps are what chains lack: what recurs, and what a walk has
 * left out.
 *
 *	leaf f f f … f f main			leaf f f main, and: before main, 97 of the 1 before
 *	leaf f g h … z main (--max-stack)	leaf f g (address 0) z main, and: 0 stands for 50
 *
 * A recursion recorded level by level is a file full of the same few addresses.  Chains that
 * perf reads to their ends stay whole: perf knows nothing of gaps.
 */
#ifndef BOBBIN_PROFILE_TRACE_PAYLOAD_H
#define BOBBIN_PROFILE_TRACE_PAYLOAD_H

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

#define TRACE_PAYLOAD_MAX (4 + TRACE_CHAIN_MAX + 1 + TRACE_GAPS_MAX * sizeof(struct trace_gap))

/* @trace as trace_gaps_take() left it.  Bytes written. */
size_t trace_payload_write(const struct bobbin_trace *trace, const struct trace_gaps *gaps,
			   uint8_t out[TRACE_PAYLOAD_MAX]);

/* What a payload says. */
struct trace_payload {
	enum bobbin_reason reason;
	struct trace_gaps gaps;
};

/*
 * Sources and exactness for @count frames, none for those that the payload does not know,
 * and the rest.  false: not such a payload.  A gap lies inside of the @count entries, after all that it repeats.
 */
bool trace_payload_read(const void *data, size_t size, struct bobbin_frame *frames, size_t count,
			struct trace_payload *ret);

#endif
