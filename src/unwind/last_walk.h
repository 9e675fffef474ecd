/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_walk.h - what a walk leaves for the next one on the same stack, see walk_memo.h.
 */
#ifndef BOBBIN_UNWIND_LAST_WALK_H
#define BOBBIN_UNWIND_LAST_WALK_H

#include <bobbin/unwind.h>

/* A walk may pass over its first frame. */
#define MEMO_FRAMES (BOBBIN_MAX_DEPTH + 1)

/* A frame, and how its caller was found. */
struct memo_frame {
	struct bobbin_frame frame; /* as in a trace */
	uint64_t sp, fp;
	/* of the next entry, which has its RA in the default slot; else UINT64_MAX */
	uint64_t caller_sp;
	int64_t fp_off; /* from there to where its FP was saved; PLAIN_RA_OFF: it was not */
};

struct memo_walk {
	uint32_t count;
	struct memo_frame frames[MEMO_FRAMES];
};

/* The newest walk over a stack, and room for the one in the making. */
struct walk_memo {
	uint32_t newest;
	struct memo_walk walks[2];
};

static inline void memo_forget(struct walk_memo *memo)
{
	memo->walks[memo->newest].count = 0;
}

#endif
