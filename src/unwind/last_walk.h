/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_walk.h - what a walk leaves for the next one on the same stack, see walk_memo.h.
 */
#ifndef BOBBIN_UNWIND_LAST_WALK_H
#define BOBBIN_UNWIND_LAST_WALK_H

#include <bobbin/unwind.h>

/* A walk may pass over its first frame. */
#define MEMO_FRAMES (BOBBIN_MAX_DEPTH + 1)

/* A frame's registers, and how its caller was found, which is the next frame. */
struct memo_link {
	uint64_t sp, fp;
	/*
	 * From the caller's SP, below which is the return address, to where its FP was saved;
	 * PLAIN_RA_OFF: it was not; LINK_BY_WORDS: all words up to the caller's SP tell of it;
	 * 0: the caller was found in another way.
	 */
	int32_t fp_off;
	uint32_t digest; /* of these words */
};

#define LINK_BY_WORDS 1 /* what is saved is below the caller's SP */

struct memo_walk {
	uint32_t count;
	bool whole; /* the last frame has no caller, as its rule says */
	struct bobbin_frame frames[MEMO_FRAMES]; /* as in a trace */
	struct memo_link links[MEMO_FRAMES];
};

/* The newest walk over a stack, and room for the one in the making. */
struct walk_memo {
	uint32_t newest;
	uint16_t useless; /* how many walks in a row have taken over little */
	uint16_t rest;    /* how many of the next do without */
	struct memo_walk walks[2];
};

/* Of memory with anything in it: it is large, and most of it is not used. */
static inline void memo_init(struct walk_memo *memo)
{
	memo->newest = 0;
	memo->useless = memo->rest = 0;
	for (unsigned int i = 0; i < 2; i++) {
		memo->walks[i].count = 0;
		memo->walks[i].whole = false;
	}
}

static inline void memo_forget(struct walk_memo *memo)
{
	memo->walks[memo->newest].count = 0;
}

#endif
