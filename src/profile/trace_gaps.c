/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/trace_gaps.h"

#include <string.h>

#include "base/repeat.h"

/* Who knows nothing of gaps shall see that there is a recursion. */
#define KEPT_TIMES 2
/* A gap takes the room of one entry. */
#define LEAST_COUNT 4

static bool same_entry(const void *ctx, size_t a, size_t b)
{
	const struct bobbin_frame *frames = ctx, *x = &frames[a], *y = &frames[b];

	return x->pc == y->pc && x->source == y->source && x->exact == y->exact;
}

static void add_gap(struct trace_gaps *gaps, uint32_t at, size_t period, size_t count)
{
	gaps->gaps[gaps->count++] = (struct trace_gap){
		.at = (uint16_t)at,
		.period = (uint16_t)period,
		.count = (uint32_t)count,
	};
}

/* What stands for frames that were left out has no address in a chain. */
static void take_mark(struct trace_gaps *gaps, uint32_t at, struct bobbin_frame *mark)
{
	if (gaps->count < TRACE_GAPS_MAX)
		add_gap(gaps, at, 0, mark->pc);
	*mark = (struct bobbin_frame){0};
}

/* Entries of a repeat that stay. */
static uint32_t keep(const struct repeat *repeat, const struct trace_gaps *gaps)
{
	size_t all = repeat->period * repeat->times, kept = repeat->period * KEPT_TIMES;

	/* one gap is the mark's */
	if (gaps->count + 1 >= TRACE_GAPS_MAX || all < kept + LEAST_COUNT)
		return (uint32_t)all;
	return (uint32_t)kept;
}

void trace_gaps_take(struct bobbin_trace *trace, struct trace_gaps *ret)
{
	const bool is_whole = trace->count <= TRACE_WHOLE_MAX;
	uint32_t left = 0, at = 0;
	struct bobbin_frame *frames = trace->frames;

	ret->count = 0;
	while (at < trace->count) {
		struct repeat repeat = {1, 1};
		uint32_t kept;

		if (frames[at].source == BOBBIN_SOURCE_LEFT_OUT)
			take_mark(ret, left, &frames[at]);
		else if (!is_whole)
			repeat_find(same_entry, frames, at, trace->count, &repeat);
		kept = keep(&repeat, ret);
		memmove(&frames[left], &frames[at], kept * sizeof(*frames));
		left += kept;
		at += (uint32_t)(repeat.period * repeat.times);
		if (kept < repeat.period * repeat.times)
			add_gap(ret, left, repeat.period, repeat.period * repeat.times - kept);
	}
	trace->count = left;
}
