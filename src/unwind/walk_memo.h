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

#include "core/frame_caller.h"

/* A frame, and how its caller was found. */
struct memo_frame {
	struct bobbin_frame frame; /* as in a trace */
	uint64_t sp, fp;
	int32_t fp_off; /* slot of the caller's FP from the caller's SP; 0: FP is unchanged */
	bool plain;     /* the next entry is the caller, with its RA in the default slot */
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
	struct walk_memo *memo;
	struct memo_walk *last;
	struct memo_walk *next; /* may become @last, which is the longer the same */
	uint32_t at, end;       /* entries of @last that may come next */
};

static inline void memo_begin(struct walk_memo *memo, struct memo_use *use)
{
	use->memo = memo;
	use->last = &memo->walks[memo->newest];
	memo->newest = !memo->newest;
	use->next = &memo->walks[memo->newest];
	use->next->count = 0;
	use->at = 0;
	use->end = use->last->count;
}

static inline void memo_forget(struct walk_memo *memo)
{
	memo->walks[memo->newest].count = 0;
}

/* Whether all that told of the caller lies between the two stack pointers. */
static BOBBIN_ALWAYS_INLINE bool memo_can_hold(const struct plain_frame *f,
					       const struct plain_frame *caller)
{
	uint64_t last_word = caller->sp - f->sp - sizeof(uint64_t);

	return !(f->source & SOURCE_ONCE) && last_word < caller->sp &&
	       caller->sp + (uint64_t)f->fp_off - f->sp <= last_word + (f->fp_off ? 0 : 8);
}

/* @plain: how its caller was found may be used again. */
static BOBBIN_ALWAYS_INLINE void memo_note(struct memo_use *use, const struct bobbin_frame *frame,
					   const struct plain_frame *f, bool plain)
{
	if (use->next)
		use->next->frames[use->next->count++] =
			(struct memo_frame){*frame, f->sp, f->fp, (int32_t)f->fp_off, plain};
}

/* The memory where a word is a load, once it is known to be there: this much further. */
struct near_memory {
	uint64_t start, end, to;
};

/* What a world brings for its memo; @at: where this program sees the word. */
static struct near_memory world_near(const struct frame_walk *w);
static void world_load(uint64_t at, uint64_t *ret);

/*
 * Whether the caller is the same as last time: every word that told is.  They lie between
 * the two stack pointers, which are in near memory.
 */
static BOBBIN_ALWAYS_INLINE bool memo_holds(const struct memo_frame *f, uint64_t to)
{
	const struct memo_frame *caller = f + 1;
	uint64_t word;

	world_load(caller->sp - sizeof(word) + to, &word);
	if (word != caller->frame.pc)
		return false;
	if (!f->fp_off)
		return true;
	world_load(caller->sp + (uint64_t)(int64_t)f->fp_off + to, &word);
	return word == caller->fp;
}

/* Which frames of the last walk may be those from @f on; at most @left, and none: 0. */
static BOBBIN_ALWAYS_INLINE uint32_t memo_candidates(const struct near_memory *near,
						     struct memo_use *use,
						     const struct plain_frame *f, uint32_t left)
{
	const struct memo_walk *last = use->last;
	const struct memo_frame *first;
	uint32_t at = use->at, count = use->end;

	while (at < count && last->frames[at].sp < f->sp)
		at++;
	use->at = at;
	first = &last->frames[at];
	/* where the last walk began, its rule was that of the next instruction */
	if (at == count || first->frame.exact || first->frame.pc != f->pc || first->sp != f->sp ||
	    first->fp != f->fp || f->sp < near->start)
		return 0;
	/* the last one has no caller here */
	count -= at + 1;
	if (count > left)
		count = left;
	while (count && first[count].sp > near->end)
		count--;
	return count;
}

/* The first @count frames of the last walk's rest are those of this one, too. */
static BOBBIN_ALWAYS_INLINE void memo_keep(struct memo_use *use, uint32_t count)
{
	struct memo_walk *last = use->last, *next = use->next;

	if (next != last && next->count == use->at) {
		/* the outer frames are many, and may stay where they are */
		memcpy(last->frames, next->frames, use->at * sizeof(*last->frames));
		use->memo->newest = last != use->memo->walks;
		use->next = last;
		last->count = next->count;
	} else if (next != last || next->count != use->at) {
		memmove(&next->frames[next->count], &last->frames[use->at],
			count * sizeof(*last->frames));
	}
	use->next->count += count;
	use->at += count;
}

/* Frames that are as they were in the last walk, from @f on, which becomes the one after. */
static BOBBIN_ALWAYS_INLINE void memo_follow(const struct frame_walk *w, struct memo_use *use,
					     struct plain_frame *f, struct bobbin_trace *trace,
					     uint32_t max)
{
	const struct near_memory near = world_near(w);
	uint32_t left = memo_candidates(&near, use, f, max - trace->count), count = 0;
	struct bobbin_frame *out = &trace->frames[trace->count];
	const struct memo_frame *from = &use->last->frames[use->at];

	while (count < left && from[count].plain && memo_holds(&from[count], near.to)) {
		out[count] = from[count].frame;
		count++;
	}
	if (!count)
		return;
	*f = (struct plain_frame){
		.pc = from[count].frame.pc, .sp = from[count].sp, .fp = from[count].fp};
	memo_keep(use, count);
	trace->count += count;
}

#endif
