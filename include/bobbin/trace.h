/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace.h - a call chain: its frames, and why it ended.
 */
#ifndef BOBBIN_TRACE_H
#define BOBBIN_TRACE_H

#include <bobbin/frame.h>
#include <bobbin/reason.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames that one trace keeps, at most. */
#define BOBBIN_MAX_DEPTH 1024
/* Frames that one walk visits, about and at most, whether they are kept or not. */
#define BOBBIN_MAX_VISITS (1u << 20)

/**
 * bobbin_source_str() - the words for a source
 * @source: enum bobbin_source, or any value
 *
 * Return: a static string.  Safe in every context.
 */
const char *bobbin_source_str(unsigned int source);

/**
 * struct bobbin_trace - a call chain
 * @frames: storage of the caller, leaf first
 * @max: entries in @frames, 1..BOBBIN_MAX_DEPTH
 * @count: entries used
 * @reason: why it ended; BOBBIN_REASON_OUTERMOST: it is complete, no caller can be missing;
 *	BOBBIN_REASON_LIKELY: the outermost frame was reached, over a guess
 * @outer: 0..@max - 1: how many entries to keep for the outermost frames of a stack that
 *	has more than @max; 0: such a trace ends with BOBBIN_REASON_DEPTH, without them
 * @left_out: frames that found no room between frames[@max - @outer - 1] and
 *	frames[@max - @outer]; 0: none
 */
struct bobbin_trace {
	struct bobbin_frame *frames;
	uint32_t max, count;
	enum bobbin_reason reason;
	uint32_t outer, left_out;
};

#ifdef __cplusplus
}
#endif

#endif
