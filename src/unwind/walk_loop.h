/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_loop.h - walk frame by frame; frames that are as in the last walk are copied from it.
 *
 * The worlds of user space include it.
 */
#ifndef BOBBIN_UNWIND_WALK_LOOP_H
#define BOBBIN_UNWIND_WALK_LOOP_H

#include <string.h>

#include "core/unwind_frame.h"
#include "unwind/last_walk.h"
#include "unwind/rule_cache.h"

/*
 * The last walk over a stack, to be verified and used again.
 *
 *	last walk	 f g h main		this walk	k h main
 *						   same state ─►└──┘ verified, not unwound again
 *
 * Two samples of a thread mostly share their outer frames.  Where a walk comes
 * to a frame with the PC, SP and FP that a frame of the last walk had, the
 * caller follows from the stack words that the last walk read: if they are
 * unchanged, so is the caller.  Each word is read and compared.  This saves finding
 * the rule, and the loads no longer depend on each other.
 *
 * Where two walks differ at the leaf, the words are also compared from the outermost frame
 * inwards.  The walks can only join where these words begin to be the same.
 *
 * Noting frames and looking for the join costs a quarter of a walk.  After some walks that
 * reused little, most of the next ones do not use the memo.
 *
 * A memo is valid for the code that was mapped then; its owner must check that.
 */

static BOBBIN_ALWAYS_INLINE bool is_near_word(const struct near_memory *near, uint64_t addr)
{
	return addr - near->start <= near->size;
}

/* Provided by the world: make @w->near the memory of the stack that @sp is on. */
static void world_near(struct frame_walk *w, uint64_t sp);

#define MEMO_USELESS 4 /* after more walks in a row that reused little, rest */
#define MEMO_REST 7    /* walks without the memo */

/*
 * A memo in use by a walk.  Its frames are the first @done of @last, then those of the trace
 * from @frames on, whose links are those of @fresh up to @note.
 */
struct memo_use {
	struct walk_memo *memo; /* NULL: not used */
	struct memo_walk *last, *fresh;
	struct memo_link *note;
	const struct bobbin_frame *frames;
	uint32_t done;
	uint32_t taken;   /* of these, those that were reused */
	uint32_t at, end; /* frames of @last that the walk may still join */
	uint64_t join;    /* the lowest SP of these; UINT64_MAX: there are none */
	bool aimed;       /* memo_find_join() has set @at */
	uint32_t held;    /* the callers of frames @at..@held - 1 were verified then */
	bool whole;       /* the walk has reached its root */
	uint64_t stack;   /* start of near memory when the walk entered this stack */
};

static inline void memo_none(struct memo_use *use)
{
	use->memo = NULL;
	use->note = NULL;
	use->join = UINT64_MAX;
}

/* The walk enters the stack of @sp. */
static inline void memo_enter(struct frame_walk *w, struct memo_use *use, uint64_t sp)
{
	if (!use->memo)
		return;
	world_near(w, sp);
	use->stack = w->near.start;
	use->at = use->done;
	/* the last one has no caller here */
	use->end = use->last->count ? use->last->count - 1 : 0;
	use->aimed = false;
	use->held = 0;
	use->join = use->at < use->end && is_near_word(&w->near, sp) ? 0 : UINT64_MAX;
}

/* After memo_none().  Without plain rules nothing can be reused. */
static inline void memo_begin(struct frame_walk *w, struct walk_memo *memo, struct memo_use *use)
{
	if (!w->forms.from_sp)
		return;
	if (memo->rest) {
		memo->rest--;
		return;
	}
	use->memo = memo;
	use->last = &memo->walks[memo->newest];
	use->fresh = &memo->walks[!memo->newest];
	use->note = use->fresh->links;
	use->done = use->taken = 0;
	use->whole = false;
	memo_enter(w, use, w->regs.sp);
}

static BOBBIN_ALWAYS_INLINE uint32_t memo_noted(const struct memo_use *use)
{
	return (uint32_t)(use->note - use->fresh->links);
}

/* Decide whether the next walks use the memo. */
static BOBBIN_ALWAYS_INLINE void memo_judge(const struct memo_use *use)
{
	struct walk_memo *memo = use->memo;

	if (use->taken >= (use->last->count - use->taken) / 4 + 8) {
		memo->useless = 0;
	} else if (++memo->useless > MEMO_USELESS) {
		/* after the rest, run two walks: the second measures against the first */
		memo->useless = MEMO_USELESS - 1;
		memo->rest = MEMO_REST;
	}
}

/* The walk has ended, and becomes the last one. */
static inline void memo_end(struct memo_use *use)
{
	uint32_t noted;

	if (!use->memo)
		return;
	noted = memo_noted(use);
	if (!use->done)
		use->last = use->fresh;
	else if (noted)
		memcpy(&use->last->links[use->done], use->fresh->links, noted * sizeof(*use->note));
	if (noted)
		memcpy(&use->last->frames[use->done], use->frames, noted * sizeof(*use->frames));
	use->last->count = use->done + noted;
	use->last->whole = use->whole;
	use->memo->newest = use->last != use->memo->walks;
	memo_judge(use);
}

/*
 * @plain: a plain rule has led from @f to its caller.  The link is valid while the words are the
 * same, if all of them lie between the two stack pointers.  It is not valid for an exact PC: the
 * next walk comes to the same PC as a return address, which is looked up one byte before.
 */
static BOBBIN_ALWAYS_INLINE struct memo_link memo_link(const struct plain_frame *f, bool plain)
{
	const bool holds = plain && f->inside && !f->exact && !(f->source & SOURCE_ONCE);

	return (struct memo_link){
		.sp = f->sp, .fp = f->fp, .fp_off = holds ? (int32_t)f->fp_off : 0};
}

/* Whether the caller at @caller_sp of a frame at @sp depends only on the words between the two. */
static inline bool memo_reads(const struct frame_walk *w, uint64_t sp, uint64_t caller_sp)
{
	/* code that is not known yet may be known the next time */
	return !w->some_code && is_near_word(&w->near, sp) && is_near_word(&w->near, caller_sp) &&
	       caller_sp > sp && caller_sp - sp <= SEARCHED_WORDS * sizeof(uint64_t) &&
	       !((sp | caller_sp) % sizeof(uint64_t));
}

static inline uint32_t memo_digest(const struct frame_walk *w, uint64_t sp, uint64_t caller_sp)
{
	const uint64_t shift = world_shift(w);
	uint64_t digest = caller_sp - sp, word;

	for (; sp < caller_sp; sp += sizeof(word)) {
		world_load(w, sp + shift, &word);
		digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
		digest ^= digest >> 32;
	}
	return (uint32_t)digest;
}

/*
 * No table has led from @f to the caller in @w->regs: core/fallbacks.h has read the words of
 * the frame, of which the first that a call may return to counts.
 */
static inline struct memo_link memo_link_by_words(const struct frame_walk *w,
						  const struct plain_frame *f, uint8_t source)
{
	struct memo_link link = memo_link(f, false);

	if ((source != BOBBIN_SOURCE_PATH && source != BOBBIN_SOURCE_FRAME_POINTER) || f->exact ||
	    w->regs.exact || !memo_reads(w, f->sp, w->regs.sp))
		return link;
	link.fp_off = LINK_BY_WORDS;
	link.digest = memo_digest(w, f->sp, w->regs.sp);
	return link;
}

static BOBBIN_OUT_OF_LINE bool memo_words_hold(const struct frame_walk *w,
					       const struct memo_link *link)
{
	return memo_reads(w, link->sp, link[1].sp) &&
	       memo_digest(w, link->sp, link[1].sp) == link->digest;
}

/*
 * Whether the caller that a plain rule has led to is the same as last time, because the words that
 * determine it are.  They lie between the two stack pointers, of which this one is in near memory.
 */
static BOBBIN_ALWAYS_INLINE bool memo_plain_holds(const struct frame_walk *w,
						  const struct memo_link *link,
						  const struct bobbin_frame *caller,
						  uint64_t near_end, uint64_t shift)
{
	uint64_t word, sp = link[1].sp;

	if (!BOBBIN_LIKELY(sp <= near_end) || !BOBBIN_LIKELY(link->fp_off < 0))
		return false;
	world_load(w, sp + (uint64_t)PLAIN_RA_OFF + shift, &word);
	if (!BOBBIN_LIKELY(word == caller->pc))
		return false;
	if (link->fp_off == PLAIN_RA_OFF)
		return true;
	world_load(w, sp + (uint64_t)(int64_t)link->fp_off + shift, &word);
	return BOBBIN_LIKELY(word == link[1].fp);
}

static inline bool memo_holds(const struct frame_walk *w, const struct memo_link *link,
			      const struct bobbin_frame *caller, uint64_t near_end, uint64_t shift)
{
	return link->fp_off == LINK_BY_WORDS ? memo_words_hold(w, link)
					     : memo_plain_holds(w, link, caller, near_end, shift);
}

/* Find the innermost frame from which on all words are unchanged, up to the outermost. */
static BOBBIN_NEVER_INLINE void memo_find_join(struct frame_walk *w, struct memo_use *use)
{
	const struct near_memory near = w->near;
	const struct memo_link *links = use->last->links;
	const uint64_t shift = world_shift(w), near_end = near.start + near.size;
	uint32_t at, held;

	while (use->end > use->at && !is_near_word(&near, links[use->end].sp))
		use->end--;
	held = use->end;
	for (at = use->end; at > use->at; at--) {
		if (!is_near_word(&near, links[at - 1].sp))
			break;
		if (!links[at - 1].fp_off)
			held = at - 1;
		else if (!memo_holds(w, &links[at - 1], &use->last->frames[at], near_end, shift))
			break;
	}
	use->held = held;
	use->aimed = true;
	use->at = at;
	use->join = at < use->end ? links[at].sp : UINT64_MAX;
}

/*
 * Concatenate the frames noted since the last reused ones with the rest of @last, by moving the
 * shorter of the two.
 */
static inline void memo_join(struct memo_use *use)
{
	uint32_t noted = memo_noted(use), at = use->done + noted;
	uint32_t left = use->last->count - use->at;
	struct memo_walk *from = use->last, *to = from;

	if (left > MEMO_FRAMES - at) {
		left = MEMO_FRAMES - at;
		from->whole = false;
	}
	if (!use->done && noted > left) {
		to = use->fresh;
		to->whole = from->whole;
		use->fresh = from;
		use->last = to;
	}
	if (to != from || at != use->at) {
		memmove(&to->links[at], &from->links[use->at], left * sizeof(*to->links));
		memmove(&to->frames[at], &from->frames[use->at], left * sizeof(*to->frames));
	}
	if (to == from)
		memcpy(&to->links[use->done], use->fresh->links, noted * sizeof(*to->links));
	memcpy(&to->frames[use->done], use->frames, noted * sizeof(*to->frames));
	to->count = at + left;
	use->end += at - use->at;
	if (use->end >= to->count)
		use->end = to->count - 1;
	use->at = use->done = at;
	use->note = use->fresh->links;
}

/* Advance @use->at to @f in the last walk; false: it is not in it. */
static BOBBIN_ALWAYS_INLINE bool memo_find(struct memo_use *use, const struct plain_frame *f)
{
	const struct memo_link *links = use->last->links, *found;

	while (use->at < use->end && links[use->at].sp < f->sp)
		use->at++;
	found = &links[use->at];
	use->join = UINT64_MAX;
	if (use->at == use->end)
		return false;
	use->join = found->sp > f->sp ? found->sp : f->sp + 1;
	return use->last->frames[use->at].pc == f->pc && found->sp == f->sp && found->fp == f->fp;
}

/* How many frames from @use->at on have the same callers as last time, up to @max. */
static BOBBIN_ALWAYS_INLINE uint32_t memo_same(struct frame_walk *w, const struct memo_use *use,
					       uint32_t max)
{
	const uint64_t shift = world_shift(w), near_end = w->near.start + w->near.size;
	const struct memo_link *links = &use->last->links[use->at];
	const struct bobbin_frame *frames = &use->last->frames[use->at];
	const size_t end = use->end - use->at < max ? use->end - use->at : max;
	size_t at = use->held > use->at ? use->held - use->at : 0;

	if (at > end)
		at = end;
	for (;; at++) {
		/* a loop of its own: the other kind calls a function, and is rare */
		while (at < end &&
		       memo_plain_holds(w, &links[at], &frames[at + 1], near_end, shift))
			at++;
		if (at == end || links[at].fp_off != LINK_BY_WORDS ||
		    !memo_words_hold(w, &links[at]))
			break;
	}
	/* a caller found by words was accepted because it has a caller itself, which differs now */
	if (at && links[at - 1].fp_off == LINK_BY_WORDS)
		at--;
	return (uint32_t)at;
}

/*
 * The walk may have joined the last one; @found: memo_find() says so.  Copy up to @max frames
 * that are still the same to @out.
 */
static BOBBIN_OUT_OF_LINE uint32_t memo_follow(struct frame_walk *w, struct memo_use *use,
					       bool found, struct bobbin_frame *out, uint32_t max)
{
	uint32_t count = found ? memo_same(w, use, max) : 0;

	if (count) {
		if (memo_noted(use) || use->at != use->done)
			memo_join(use);
		/* the root has no caller to verify */
		use->whole = use->last->whole && count < max &&
			     use->at + count + 1 == use->last->count;
		count += use->whole;
		use->taken += count;
		memcpy(out, &use->last->frames[use->at], count * sizeof(*out));
		use->done = use->at += count;
		use->held = 0;
		use->frames = out + count;
		use->join = use->at < use->end ? use->last->links[use->at].sp : UINT64_MAX;
	}
	if (!use->aimed && count < max && use->at < use->end)
		memo_find_join(w, use);
	return count;
}

/* Set @f to the frame after those that memo_follow() has copied. */
static BOBBIN_ALWAYS_INLINE void memo_move(const struct memo_use *use, struct plain_frame *f)
{
	const uint32_t at = use->whole ? use->done - 1 : use->done;
	const struct memo_link *link = &use->last->links[at];

	plain_frame_move(f, use->last->frames[at].pc, link->sp, link->fp);
}

static BOBBIN_ALWAYS_INLINE struct plain_frame plain_frame_of(const struct bobbin_regs *regs)
{
	return (struct plain_frame){
		.pc = regs->pc, .sp = regs->sp, .fp = regs->fp, .exact = regs->exact};
}

/* Store the registers of the current frame in the walk. */
static BOBBIN_ALWAYS_INLINE void give_registers(struct frame_walk *w, const struct plain_frame *f)
{
	if (w->regs.sp != f->sp)
		w->regs = (struct bobbin_regs){.pc = f->pc, .sp = f->sp, .fp = f->fp};
}

static BOBBIN_ALWAYS_INLINE uint8_t plain_source(const struct plain_frame *f)
{
	return f->source & (uint8_t)~SOURCE_ONCE;
}

/*
 * Walk plain frames up to @end, or to where the walk may join the last one.  Returns the end of
 * what was written.  Inlined into the loop, so that all of @f stays in registers.
 */
static BOBBIN_ALWAYS_INLINE struct bobbin_frame *walk_plain(
	struct frame_walk *w, struct memo_use *memo, struct plain_frame *f,
	struct bobbin_frame *out, const struct bobbin_frame *end, enum frame_case *found)
{
	struct memo_link *note = memo->note;
	const uint64_t join = memo->join;
	struct plain_frame caller;

	do {
		*found = frame_plain(w, f, &caller);
		if (!BOBBIN_LIKELY(*found == FRAME_CALLER))
			break;
		out->pc = f->pc;
		out->source = plain_source(f);
		out->exact = false;
		out++;
		if (note)
			*note++ = memo_link(f, true);
		plain_frame_move(f, caller.pc, caller.sp, caller.fp);
	} while (out < end && f->sp < join);
	memo->note = note;
	return out;
}

/* Store the frame of @w->regs, and go to its caller; or why there is none. */
static BOBBIN_OUT_OF_LINE enum bobbin_reason walk_on(struct frame_walk *w, struct memo_use *memo,
						     struct bobbin_frame *frame)
{
	struct plain_frame f = plain_frame_of(&w->regs), caller;
	enum bobbin_reason reason = BOBBIN_REASON_NONE;

	*frame = (struct bobbin_frame){.pc = f.pc, .exact = f.exact};
	if (f.exact && frame_plain(w, &f, &caller) == FRAME_CALLER) {
		frame->source = plain_source(&f);
		w->regs = (struct bobbin_regs){.pc = caller.pc, .sp = caller.sp, .fp = caller.fp};
	} else {
		reason = frame_general(w, &frame->source);
		frame->exact &= !w->in_syscall;
		w->in_syscall = false;
	}
	if (memo->note)
		*memo->note++ = memo_link_by_words(w, &f, frame->source);
	if (memo->memo && (w->near.start != memo->stack || !is_near_word(&w->near, w->regs.sp)))
		memo_enter(w, memo, w->regs.sp);
	return reason;
}

/* Up to @max frames; BOBBIN_REASON_DEPTH: the walk can go on. */
static void walk_frames(struct frame_walk *w, struct memo_use *memo, struct bobbin_trace *trace,
			uint32_t max)
{
	struct bobbin_frame *first = trace->frames, *out = first, *end = first + max;
	struct plain_frame f = plain_frame_of(&w->regs);
	enum bobbin_reason reason = BOBBIN_REASON_NONE;
	enum frame_case found;

	memo->frames = out;
	while (out < end && !reason) {
		/* hostile stacks may have an SP of UINT64_MAX, which @join is without a memo */
		if (f.sp >= memo->join && !f.exact && memo->memo) {
			uint32_t same = memo_follow(w, memo, memo_find(memo, &f), out,
						    (uint32_t)(end - out));

			if (same)
				memo_move(memo, &f);
			out += same;
			if (memo->whole)
				reason = BOBBIN_REASON_OUTERMOST;
			if (reason || out == end)
				break;
		}
		found = FRAME_GENERAL;
		if (!f.exact)
			out = walk_plain(w, memo, &f, out, end, &found);
		if (found == FRAME_OUTERMOST) {
			*out++ = (struct bobbin_frame){.pc = f.pc, .source = plain_source(&f)};
			if (memo->note)
				*memo->note++ = memo_link(&f, false);
			memo->whole = !(f.source & SOURCE_ONCE);
			reason = BOBBIN_REASON_OUTERMOST;
		} else if (found == FRAME_GENERAL) {
			if (out != first)
				w->callee = out[-1].source;
			give_registers(w, &f);
			reason = walk_on(w, memo, out++);
			plain_frame_move(&f, w->regs.pc, w->regs.sp, w->regs.fp);
			f.exact = w->regs.exact;
		}
	}
	trace->count = (uint32_t)(out - first);
	trace->reason = reason ? frame_walk_end(w, reason) : BOBBIN_REASON_DEPTH;
	if (reason)
		return;
	give_registers(w, &f);
	if (out != first)
		w->callee = out[-1].source;
}

static void reverse(struct bobbin_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct bobbin_frame frame = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = frame;
	}
}

/* A stack that is too deep for its trace: of the frames that follow, keep the last @outer. */
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

/* All frames, as the trace wants them. */
static inline void walk_stack(struct frame_walk *w, struct memo_use *memo,
			      struct bobbin_trace *trace)
{
	const uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	const uint32_t outer = trace->outer < max ? trace->outer : 0;

	trace->left_out = 0;
	walk_frames(w, memo, trace, max - outer);
	if (outer && trace->reason == BOBBIN_REASON_DEPTH)
		walk_outer_frames(w, memo, trace, outer);
}

#endif
