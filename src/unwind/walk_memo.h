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
 * A memo belongs to the code that was there then: who keeps one checks that.
 */
#ifndef BOBBIN_UNWIND_WALK_MEMO_H
#define BOBBIN_UNWIND_WALK_MEMO_H

#include <bobbin/unwind.h>
#include <string.h>

#include "core/frame_walk.h"

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

/* The newest walk over a stack, and the one in the making. */
struct walk_memo {
	uint32_t newest;
	struct memo_walk walks[2];
};

/* A memo in use by a walk; all zero: there is none. */
struct memo_use {
	const struct memo_walk *last;
	struct memo_walk *next;
	uint32_t at; /* entry of @last that may come next */
};

static inline void memo_begin(struct walk_memo *memo, struct memo_use *use)
{
	use->last = &memo->walks[memo->newest];
	memo->newest = !memo->newest;
	use->next = &memo->walks[memo->newest];
	use->next->count = 0;
	use->at = 0;
}

static inline void memo_forget(struct walk_memo *memo)
{
	memo->walks[memo->newest].count = 0;
}

static BOBBIN_ALWAYS_INLINE void memo_note(struct memo_use *use, const struct memo_frame *frame)
{
	if (use->next)
		use->next->frames[use->next->count++] = *frame;
}

/* Whether the caller is the same as last time: every word that told is. */
static BOBBIN_ALWAYS_INLINE bool memo_holds(struct frame_walk *w, const struct memo_frame *frame)
{
	const struct memo_frame *caller = frame + 1;
	uint64_t word;

	if (world_word(w, caller->sp - sizeof(word), &word) || word != caller->pc)
		return false;
	return !frame->fp_off ||
	       (!world_word(w, caller->sp + (uint64_t)(int64_t)frame->fp_off, &word) &&
		word == caller->fp);
}

/*
 * Frames that are as they were in the last walk, from one that is not exact; the last of
 * them, which is not in the trace yet, or @from.
 */
static BOBBIN_ALWAYS_INLINE const struct memo_frame *memo_follow(struct frame_walk *w,
								 struct memo_use *use,
								 const struct memo_frame *from,
								 struct bobbin_trace *trace,
								 uint32_t max)
{
	const struct memo_frame *f = &use->last->frames[use->at], *first;
	const struct memo_frame *end = &use->last->frames[use->last->count];
	struct bobbin_frame *out = &trace->frames[trace->count], *full = &trace->frames[max];
	uint32_t count;

	while (f < end && f->sp < from->sp)
		f++;
	use->at = (uint32_t)(f - use->last->frames);
	if (f == end || f->pc != from->pc || f->sp != from->sp || f->fp != from->fp)
		return from;

	for (first = f; f + 1 < end && f->plain && out < full && memo_holds(w, f); f++)
		*out++ = (struct bobbin_frame){.pc = f->pc, .source = f->source};
	count = (uint32_t)(f - first);
	if (!count)
		return from;
	memcpy(&use->next->frames[use->next->count], first, count * sizeof(*f));
	use->next->count += count;
	use->at += count;
	trace->count += count;
	return f;
}

#endif
