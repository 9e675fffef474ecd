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
 *
 * Readers that do not know it skip it.
 */
#ifndef BOBBIN_PROFILE_TRACE_PAYLOAD_H
#define BOBBIN_PROFILE_TRACE_PAYLOAD_H

#include <bobbin/unwind.h>

#define TRACE_PAYLOAD_MAX (4 + BOBBIN_MAX_DEPTH)

/* Bytes written. */
size_t trace_payload_write(const struct bobbin_trace *trace, uint8_t out[TRACE_PAYLOAD_MAX]);

/*
 * The reason, and sources and exactness for at most @count frames.  false: not
 * such a payload.
 */
bool trace_payload_read(const void *data, size_t size, struct bobbin_frame *frames, size_t count,
			enum bobbin_reason *reason);

#endif
