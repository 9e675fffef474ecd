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
 * Where two walks differ at once, the words are also compared from the outermost frame on:
 * the walk meets the last one where they begin to be the same, and looks for it nowhere else.
 *
 * A memo belongs to the code that was there then: who keeps one checks that.
 */
#ifndef BOBBIN_UNWIND_WALK_MEMO_H
#define BOBBIN_UNWIND_WALK_MEMO_H

#include <string.h>

#include "core/frame_caller.h"
#include "unwind/last_walk.h"
#include "unwind/rule_cache.h"

/* The memory where a word is a load, once it is known to be there. */
struct near_memory {
	uint64_t start, end;
};

static BOBBIN_ALWAYS_INLINE bool is_near_word(const struct near_memory *near, uint64_t addr)
{
	return addr - near->start <= near->end - near->start;
}

/* What a world brings for its memo: the near memory of @sp's stack; how much further a word is. */
static struct near_memory world_near(struct frame_walk *w, uint64_t sp);
static uint64_t world_shift(const struct frame_walk *w);
static void world_load(uint64_t at, uint64_t *ret);

/*
 * A memo in use by a walk.  Its frames are the first @done of @last, then those up to @note
 * in @fresh.
 */
struct memo_use {
	struct walk_memo *memo; /* NULL: there is none */
	struct memo_walk *last, *fresh;
	struct memo_frame *note;
	uint32_t done;
	uint32_t at, end; /* entries of @last that the walk may come to, and the one after */
	uint64_t join;    /* the least SP that the next of these can have */
	bool aimed;       /* @at is where words begin to be the same */
	struct near_memory near;
};

static inline void memo_none(struct memo_use *use)
{
	use->memo = NULL;
	use->note = NULL;
	use->join = UINT64_MAX;
}

/* The walk comes to the stack of @sp. */
static inline void memo_enter(struct frame_walk *w, struct memo_use *use, uint64_t sp)
{
	if (!use->memo)
		return;
	use->near = world_near(w, sp);
	use->at = use->done;
	/* the last one has no caller here */
	use->end = use->last->count ? use->last->count - 1 : 0;
	use->aimed = false;
	use->join = use->at < use->end && is_near_word(&use->near, sp) ? 0 : UINT64_MAX;
}

/* After memo_none(); where no rule is plain, nothing could be used again. */
static inline void memo_begin(struct frame_walk *w, struct walk_memo *memo, struct memo_use *use)
{
	if (!w->forms.from_sp)
		return;
	use->memo = memo;
	use->last = &memo->walks[memo->newest];
	use->fresh = &memo->walks[!memo->newest];
	use->note = use->fresh->frames;
	use->done = 0;
	memo_enter(w, use, w->regs.sp);
}

static BOBBIN_ALWAYS_INLINE uint32_t memo_noted(const struct memo_use *use)
{
	return (uint32_t)(use->note - use->fresh->frames);
}

/* The walk becomes the last one. */
static inline void memo_end(struct memo_use *use)
{
	uint32_t noted;

	if (!use->memo)
		return;
	noted = memo_noted(use);
	if (use->done)
		memcpy(&use->last->frames[use->done], use->fresh->frames,
		       noted * sizeof(*use->note));
	else
		use->last = use->fresh;
	use->last->count = use->done + noted;
	use->memo->newest = use->last != use->memo->walks;
}

/*
 * Whether all that told of the caller lies between the two stack pointers.  Not where the
 * rule was that of the next instruction: a return address has the one before.
 */
static BOBBIN_ALWAYS_INLINE bool memo_can_hold(const struct plain_frame *f,
					       const struct plain_frame *caller)
{
	uint64_t size = caller->sp - f->sp;

	return !(f->source & SOURCE_ONCE) && !f->exact && size + (uint64_t)f->fp_off < size;
}

/* @caller: NULL: no plain rule has led there. */
static BOBBIN_ALWAYS_INLINE void memo_note(struct memo_use *use, const struct bobbin_frame *frame,
					   const struct plain_frame *f,
					   const struct plain_frame *caller)
{
	bool holds = caller && memo_can_hold(f, caller);

	if (use->note)
		*use->note++ = (struct memo_frame){.frame = *frame,
						   .sp = f->sp,
						   .fp = f->fp,
						   .caller_sp = holds ? caller->sp : UINT64_MAX,
						   .fp_off = caller ? f->fp_off : 0};
}

/*
 * Whether the caller is the same as last time: every word that told is.  They lie between
 * the two stack pointers, of which this one is in near memory.
 */
static BOBBIN_ALWAYS_INLINE bool memo_holds(const struct memo_frame *f, uint64_t near_end,
					    uint64_t shift)
{
	uint64_t word;

	if (f->caller_sp > near_end)
		return false;
	world_load(f->caller_sp + (uint64_t)PLAIN_RA_OFF + shift, &word);
	if (word != f[1].frame.pc)
		return false;
	if (f->fp_off == PLAIN_RA_OFF)
		return true;
	world_load(f->caller_sp + (uint64_t)f->fp_off + shift, &word);
	return word == f[1].fp;
}

/* Find the outermost entries that this walk will come to, if it comes to the last ones at all. */
static BOBBIN_NEVER_INLINE void memo_aim(struct frame_walk *w, struct memo_use *use)
{
	const struct near_memory near = use->near;
	const struct memo_frame *frames = use->last->frames;
	uint64_t shift = world_shift(w);
	uint32_t at;

	while (use->end > use->at && !is_near_word(&near, frames[use->end].sp))
		use->end--;
	for (at = use->end; at > use->at; at--) {
		const struct memo_frame *f = &frames[at - 1];

		if (!is_near_word(&near, f->sp) ||
		    (f->caller_sp != UINT64_MAX && !memo_holds(f, near.end, shift)))
			break;
	}
	use->aimed = true;
	use->at = at;
	use->join = at < use->end ? frames[at].sp : UINT64_MAX;
}

/*
 * The frames noted since the last that were taken over, and what is left of @last, become one
 * row: which of the two moves is what is shorter.
 */
static inline void memo_join(struct memo_use *use)
{
	uint32_t noted = memo_noted(use), at = use->done + noted;
	uint32_t left = use->last->count - use->at;
	struct memo_frame *from = &use->last->frames[use->at];

	if (left > MEMO_FRAMES - at)
		left = MEMO_FRAMES - at;
	if (!use->done && noted > left) {
		struct memo_walk *last = use->last;

		memcpy(use->note, from, left * sizeof(*from));
		use->last = use->fresh;
		use->fresh = last;
	} else {
		if (at != use->at)
			memmove(&use->last->frames[at], from, left * sizeof(*from));
		memcpy(&use->last->frames[use->done], use->fresh->frames, noted * sizeof(*from));
	}
	use->last->count = at + left;
	use->end += at - use->at;
	if (use->end >= use->last->count)
		use->end = use->last->count - 1;
	use->at = use->done = at;
	use->note = use->fresh->frames;
}

/* Go to the entry that @f is; false: it is none. */
static BOBBIN_ALWAYS_INLINE bool memo_find(struct memo_use *use, const struct plain_frame *f)
{
	const struct memo_frame *frames = use->last->frames, *found;

	while (use->at < use->end && frames[use->at].sp < f->sp)
		use->at++;
	found = &frames[use->at];
	use->join = UINT64_MAX;
	if (use->at == use->end)
		return false;
	use->join = found->sp > f->sp ? found->sp : f->sp + 1;
	return found->frame.pc == f->pc && found->sp == f->sp && found->fp == f->fp;
}

/*
 * The walk has come to where the last one may have been, and @found what memo_find() says:
 * @out gets up to @max frames that are as they were then.
 */
static BOBBIN_OUT_OF_LINE uint32_t memo_follow(struct frame_walk *w, struct memo_use *use,
					       bool found, struct bobbin_frame *out, uint32_t max)
{
	const uint64_t shift = world_shift(w), near_end = use->near.end;
	const struct memo_frame *from, *end;
	uint32_t count = 0;

	if (found) {
		from = &use->last->frames[use->at];
		end = from + (use->end - use->at < max ? use->end - use->at : max);
		for (; from < end && memo_holds(from, near_end, shift); from++)
			*out++ = from->frame;
		count = (uint32_t)(from - &use->last->frames[use->at]);
	}
	if (count) {
		memo_join(use);
		use->done = use->at += count;
		use->join = use->at < use->end ? from->sp : UINT64_MAX;
	}
	if (!use->aimed && count < max && use->at < use->end)
		memo_aim(w, use);
	return count;
}

/* To where memo_follow() has come. */
static BOBBIN_ALWAYS_INLINE void memo_move(const struct memo_use *use, struct plain_frame *f)
{
	const struct memo_frame *at = &use->last->frames[use->done];

	plain_frame_move(f, at->frame.pc, at->sp, at->fp);
}

#endif
