/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/trace_payload.h"

#include <string.h>

#define VERSION 1
#define HEADER 4
#define EXACT 0x80

size_t trace_payload_write(const struct bobbin_trace *trace, uint8_t out[TRACE_PAYLOAD_MAX])
{
	uint16_t count = (uint16_t)trace->count;

	out[0] = VERSION;
	out[1] = (uint8_t)trace->reason;
	memcpy(out + 2, &count, sizeof(count));
	for (uint32_t i = 0; i < trace->count; i++)
		out[HEADER + i] = trace->frames[i].source | (trace->frames[i].exact ? EXACT : 0);
	return HEADER + (size_t)count;
}

bool trace_payload_read(const void *data, size_t size, struct bobbin_frame *frames, size_t count,
			enum bobbin_reason *reason)
{
	const uint8_t *bytes = data;
	uint16_t stored;

	if (!data || size < HEADER || bytes[0] != VERSION)
		return false;
	memcpy(&stored, bytes + 2, sizeof(stored));
	if (stored > size - HEADER)
		return false;
	for (size_t i = 0; i < stored && i < count; i++) {
		frames[i].source = bytes[HEADER + i] & (uint8_t)~EXACT;
		frames[i].exact = bytes[HEADER + i] & EXACT;
	}
	*reason = (enum bobbin_reason)bytes[1];
	return true;
}
