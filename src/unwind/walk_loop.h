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

	memo_note(memo, frame, &f, UINT64_MAX);
	if (memo->memo && !is_near_word(&memo->near, w->regs.sp))
		memo_enter(w, memo, w->regs.sp);
	return reason;
}

/* Up to @max frames; BOBBIN_REASON_DEPTH: the walk can go on. */
static void walk_frames(struct frame_walk *w, struct memo_use *memo, struct bobbin_trace *trace,
			uint32_t max)
{
	struct plain_frame f = plain_frame_of(&w->regs), caller;
	enum bobbin_reason reason = BOBBIN_REASON_NONE;
	uint32_t count;

	for (count = 0; count < max && !reason; count++) {
		struct bobbin_frame *frame;
		enum frame_case found;

		if (f.sp >= memo->join && !f.exact) {
			uint32_t same = memo_follow(w, memo, memo_find(memo, &f),
						    &trace->frames[count], max - count);

			if (same)
				memo_move(memo, &f);
			count += same;
			if (count == max)
				break;
		}
		frame = &trace->frames[count];
		found = frame_plain(w, &f, &caller);
		*frame = (struct bobbin_frame){
			.pc = f.pc, .source = f.source & (uint8_t)~SOURCE_ONCE, .exact = f.exact};
		if (found == FRAME_CALLER) {
			memo_note(memo, frame, &f,
				  memo_can_hold(&f, &caller) ? caller.sp : UINT64_MAX);
			plain_frame_move(&f, caller.pc, caller.sp, caller.fp);
		} else if (found == FRAME_OUTERMOST) {
			memo_note(memo, frame, &f, UINT64_MAX);
			reason = BOBBIN_REASON_OUTERMOST;
		} else {
			if (count)
				w->callee = frame[-1].source;
			give_registers(w, &f);
			reason = walk_on(w, memo, frame);
			f = plain_frame_of(&w->regs);
		}
	}
	trace->count = count;
	give_registers(w, &f);
	if (count)
		w->callee = trace->frames[count - 1].source;
	trace->reason = reason ? reason : BOBBIN_REASON_DEPTH;
}

#endif
