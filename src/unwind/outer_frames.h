/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outer_frames.h - the outermost frames of a stack that is too deep for its trace.
 */
#ifndef BOBBIN_UNWIND_OUTER_FRAMES_H
#define BOBBIN_UNWIND_OUTER_FRAMES_H

#include "unwind/walk_loop.h"

static void reverse(struct bobbin_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct bobbin_frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* On to the end: of the frames that follow, the last @outer stay, in order. */
static void walk_outer_frames(struct frame_walk *w, struct memo_use *memo,
			      struct bobbin_trace *trace, uint32_t outer)
{
	struct bobbin_trace ring = {.frames = trace->frames + trace->count};
	uint32_t rounds = 0;

	/* a memo has no room for what is so far out */
	memo_end(memo);
	memo_none(memo);
	for (walk_frames(w, memo, &ring, outer); ring.reason == BOBBIN_REASON_DEPTH;
	     walk_frames(w, memo, &ring, outer))
		if (++rounds >= BOBBIN_MAX_VISITS / outer)
			break;
	trace->reason = ring.reason;
	if (ring.count < outer && rounds) {
		reverse(ring.frames, ring.count);
		reverse(ring.frames + ring.count, outer - ring.count);
		reverse(ring.frames, outer);
	}
	trace->left_out = rounds ? (rounds - 1) * outer + ring.count : 0;
	if (ring.reason == BOBBIN_REASON_DEPTH)
		trace->left_out -= outer;
	trace->count += rounds ? outer : ring.count;
}

#endif
