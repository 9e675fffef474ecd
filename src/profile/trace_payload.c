/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/trace_payload.h"

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

#define VERSION 1
#define HEADER 4
#define EXACT 0x80

static size_t write_gaps(const struct trace_gaps *gaps, uint8_t *out)
{
	size_t size = gaps->count * sizeof(*gaps->gaps);

	if (!gaps->count)
		return 0;
	out[0] = (uint8_t)gaps->count;
	memcpy(out + 1, gaps->gaps, size);
	return 1 + size;
}

size_t trace_payload_write(const struct bobbin_trace *trace, const struct trace_gaps *gaps,
			   uint8_t out[TRACE_PAYLOAD_MAX])
{
	uint16_t count = (uint16_t)trace->count;

	out[0] = VERSION;
	out[1] = (uint8_t)trace->reason;
	memcpy(out + 2, &count, sizeof(count));
	for (uint32_t i = 0; i < trace->count; i++)
		out[HEADER + i] = trace->frames[i].source | (trace->frames[i].exact ? EXACT : 0);
	return HEADER + count + write_gaps(gaps, out + HEADER + count);
}

static bool is_sound(const struct trace_gap *gap, uint32_t before, size_t count)
{
	if (gap->at < before || !gap->count)
		return false;
	return gap->period ? gap->period <= gap->at && gap->at <= count : gap->at < count;
}

/* Those up to the first that makes no sense. */
static void read_gaps(const uint8_t *bytes, size_t size, size_t count, struct trace_gaps *ret)
{
	uint32_t stored = size ? bytes[0] : 0, before = 0;

	ret->count = 0;
	while (ret->count < stored && ret->count < TRACE_GAPS_MAX) {
		struct trace_gap *gap = &ret->gaps[ret->count];

		if (size - 1 < (ret->count + 1) * sizeof(*gap))
			break;
		memcpy(gap, bytes + 1 + ret->count * sizeof(*gap), sizeof(*gap));
		if (!is_sound(gap, before, count))
			break;
		before = gap->at;
		ret->count++;
	}
}

/* What was left out is said by gaps. */
static uint8_t source_of(uint8_t stored)
{
	return stored == BOBBIN_SOURCE_LEFT_OUT ? BOBBIN_SOURCE_NONE : stored;
}

bool trace_payload_read(const void *data, size_t size, struct bobbin_frame *frames, size_t count,
			struct trace_payload *ret)
{
	const uint8_t *bytes = data;
	uint16_t stored;

	if (!data || size < HEADER || bytes[0] != VERSION)
		return false;
	memcpy(&stored, bytes + 2, sizeof(stored));
	if (stored > size - HEADER)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint8_t how = i < stored ? bytes[HEADER + i] : BOBBIN_SOURCE_NONE;

		frames[i].source = source_of(how & (uint8_t)~EXACT);
		frames[i].exact = how & EXACT;
	}
	ret->reason = (enum bobbin_reason)bytes[1];
	read_gaps(bytes + HEADER + stored, size - HEADER - stored, count, &ret->gaps);
	return true;
}
