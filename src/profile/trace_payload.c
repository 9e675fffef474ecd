/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/trace_payload.h"

#include <string.h>

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
