/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_memo.h - the last walk over a stack, to be verified and used again.
 *
 *	last walk	 f g h main		this walk	k h main
 *						   same state ─►└──┘ read again, not worked out again
 *
 * Two samples of a thread mostly share their outer frames.  Where a walk comes
 * to a frame with the PC, SP and FP that a frame of the last walk had, the
 * caller follows from the stack words that the last walk read: if they are
 * unchanged, so is the caller.  Each word is read and compared; what is saved
 * is finding the rule, and the wait for one word before the next can be read.
 *
 * A memo belongs to a space and to its mappings as they were: both are checked.
 */
#ifndef BOBBIN_UNWIND_WALK_MEMO_H
#define BOBBIN_UNWIND_WALK_MEMO_H

#include <bobbin/unwind.h>

/* A frame, and how its caller was found. */
struct memo_frame {
	uint64_t pc, sp, fp;
	int32_t fp_off; /* slot of the caller's FP from the caller's SP; 0: FP is unchanged */
	uint8_t source;
	bool plain; /* the next entry is the caller, with its RA in the default slot */
};

struct memo_walk {
	uint32_t count;
	struct memo_frame frames[BOBBIN_MAX_DEPTH + 1];
};

/* Stacks of one space that are remembered: threads take turns. */
#define MEMO_STACKS 4

struct walk_memo {
	uint64_t generation; /* of the mappings */
	uint32_t newest[MEMO_STACKS];
	struct memo_walk walks[MEMO_STACKS][2]; /* the newest, and the one in the making */
};

#endif
