/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_walk.h - what a walk leaves for the next one on the same stack, see walk_loop.h.
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
	 * Where the caller's FP was saved, as an offset from the caller's SP; PLAIN_RA_OFF: it
	 * was not saved; LINK_BY_WORDS: the caller depends on all words up to its SP; 0: the
	 * caller was found in another way, and cannot be reused.
	 */
	int32_t fp_off;
	uint32_t digest; /* LINK_BY_WORDS: of these words */
};

#define LINK_BY_WORDS 1 /* no offset: those are negative */

struct memo_walk {
	uint32_t count;
	bool whole; /* the last frame has no caller, as its rule says */
	struct bobbin_frame frames[MEMO_FRAMES]; /* as in a trace */
	struct memo_link links[MEMO_FRAMES];
};

/* The newest walk over a stack, and room for the one in the making. */
struct walk_memo {
	uint32_t newest;
	uint16_t useless; /* walks in a row that reused little */
	uint16_t rest;    /* so many of the next do not use the memo */
	struct memo_walk walks[2];
};

/* The memory may have any contents: it is large, and most of it is not used. */
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
