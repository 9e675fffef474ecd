/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_loop.h - walk frame by frame; frames that are as in the last walk are copied from it.
 *
 * The worlds of user space include it.
 */
#ifndef BOBBIN_UNWIND_WALK_LOOP_H
#define BOBBIN_UNWIND_WALK_LOOP_H

#include "core/unwind_frame.h"
#include "unwind/walk_memo.h"

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

#endif
