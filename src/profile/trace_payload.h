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
 *	   each	u16 at, u16 period, u32 count: see trace_gaps.h
 *
 * Readers that do not know it skip it.
 */
#ifndef BOBBIN_PROFILE_TRACE_PAYLOAD_H
#define BOBBIN_PROFILE_TRACE_PAYLOAD_H

#include "profile/trace_gaps.h"

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
