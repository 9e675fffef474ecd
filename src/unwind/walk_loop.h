/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_loop.h - frame after frame, of the last walk where they are the same.
 *
 * The loop of the worlds of user space, who include it after core/frame_caller.h.
 */
#ifndef BOBBIN_UNWIND_WALK_LOOP_H
#define BOBBIN_UNWIND_WALK_LOOP_H

#include "core/frame_caller.h"
#include "unwind/walk_memo.h"

static BOBBIN_ALWAYS_INLINE struct plain_frame plain_frame_of(const struct bobbin_regs *regs)
{
	return (struct plain_frame){
		.pc = regs->pc, .sp = regs->sp, .fp = regs->fp, .exact = regs->exact};
}

/* The registers of the frame that the loop has come to become those of the walk. */
static BOBBIN_ALWAYS_INLINE void give_registers(struct frame_walk *w, const struct plain_frame *f)
{
	if (w->regs.sp != f->sp)
		w->regs = (struct bobbin_regs){.pc = f->pc, .sp = f->sp, .fp = f->fp};
}

/* All that is no plain rule at hand. */
static BOBBIN_OUT_OF_LINE enum bobbin_reason walk_on(struct frame_walk *w, struct memo_use *memo,
						     struct bobbin_frame *frame)
{
	const struct plain_frame f = plain_frame_of(&w->regs);
	enum bobbin_reason reason = frame_general(w, &frame->source);

	if (w->in_syscall)
		frame->exact = false;
	w->in_syscall = false;
	memo_note(memo, &f, NULL);
	if (memo->memo && !is_near_word(&memo->near, w->regs.sp))
		memo_enter(w, memo, w->regs.sp);
	return reason;
}

/*
 * One frame after @f, which the last walk does not know; or why there is none.  It is compiled
 * into the loop, where all of @f should stay in registers.
 */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason walk_one(struct frame_walk *w, struct memo_use *memo,
							struct plain_frame *f,
							struct bobbin_frame *out, bool first)
{
	struct plain_frame caller;
	enum frame_case found = frame_plain(w, f, &caller);
	enum bobbin_reason reason;

	*out = (struct bobbin_frame){
		.pc = f->pc, .source = f->source & (uint8_t)~SOURCE_ONCE, .exact = f->exact};
	if (found == FRAME_CALLER) {
		memo_note(memo, f, &caller);
		plain_frame_move(f, caller.pc, caller.sp, caller.fp);
		return BOBBIN_REASON_NONE;
	}
	if (found == FRAME_OUTERMOST) {
		memo->whole = !(f->source & SOURCE_ONCE);
		memo_note(memo, f, NULL);
		return BOBBIN_REASON_OUTERMOST;
	}
	if (!first)
		w->callee = out[-1].source;
	give_registers(w, f);
	reason = walk_on(w, memo, out);
	plain_frame_move(f, w->regs.pc, w->regs.sp, w->regs.fp);
	f->exact = w->regs.exact;
	return reason;
}

/* Up to @max frames; BOBBIN_REASON_DEPTH: the walk can go on. */
static void walk_frames(struct frame_walk *w, struct memo_use *memo, struct bobbin_trace *trace,
			uint32_t max)
{
	struct bobbin_frame *first = trace->frames, *out = first, *end = first + max;
	struct plain_frame f = plain_frame_of(&w->regs);
	enum bobbin_reason reason = BOBBIN_REASON_NONE;

	memo->frames = out;
	while (out < end && !reason) {
		/* any number may be a stack pointer: it may also be what no entry can have */
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
		reason = walk_one(w, memo, &f, out, out == first);
		out++;
	}
	trace->count = (uint32_t)(out - first);
	give_registers(w, &f);
	if (out != first)
		w->callee = out[-1].source;
	trace->reason = reason ? reason : BOBBIN_REASON_DEPTH;
}

#endif
