/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind_frame.h - what a frame costs and decides, once for all worlds.
 *
 *	packed rule at hand, and plain		frame_plain(), a dozen instructions
 *	everything else				frame_general()
 *
 * Three in a thousand rows of a distribution are not plain; frame_general() does the same
 * for those that are.  What a world is: frame_walk.h.
 */
#ifndef BOBBIN_CORE_UNWIND_FRAME_H
#define BOBBIN_CORE_UNWIND_FRAME_H

#include "core/fallbacks.h"
#include "core/stack_switch.h"

/* The caller, by a table's rule for this frame. */
static enum bobbin_reason frame_step_on(struct frame_walk *w, const struct bobbin_rule *rule)
{
	enum bobbin_reason reason;

	if (rule->flags & BOBBIN_RULE_SWITCH)
		return switch_stacks(w, rule);
	reason = frame_step(w, rule, &w->regs);
	if (reason == BOBBIN_REASON_NO_REGISTER || reason == BOBBIN_REASON_CFI_EXPRESSION)
		reason = step_by_lost(w, rule);
	else if (stack_has_ended(reason))
		return leave_stack(w, rule, reason);
	/* only signal frames lead to where the PC is exact */
	if (!reason && w->regs.exact) {
		w->bottom = w->regs.sp;
		w->known = w->regs;
	}
	return reason;
}

/*
 * Where the rule is likely, and not proved: the code at the PC may prove another.  Else it
 * serves a frame whose PC is exact, on which nothing has been built, if it leads to a caller.
 */
static BOBBIN_OUT_OF_LINE enum bobbin_reason frame_likely(struct frame_walk *w, uint8_t *source,
							  const struct bobbin_rule *rule)
{
	const struct bobbin_regs regs = w->regs;
	const enum bobbin_reason reason = step_without_rule(w, BOBBIN_REASON_NO_FUNCTION, source);
	const struct bobbin_regs caller = w->regs;

	if (!regs.exact || (!reason && *source != BOBBIN_SOURCE_GUESS))
		return reason;
	w->regs = regs;
	if (step_checked(w, BOBBIN_SOURCE_CODE, rule)) {
		w->regs = caller;
		return reason;
	}
	*source = BOBBIN_SOURCE_GUESS;
	return BOBBIN_REASON_NONE;
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason frame_by_source(struct frame_walk *w,
							       uint8_t *source)
{
	struct bobbin_rule rule;

	if (w->regs.pc - w->fiber_start < w->fiber_end - w->fiber_start) {
		*source = BOBBIN_SOURCE_ENTRY;
		return BOBBIN_REASON_OUTERMOST;
	}
	*source = (uint8_t)frame_rule(w, bobbin_regs_lookup_pc(&w->regs), &rule);
	if (*source == BOBBIN_SOURCE_NONE)
		return step_without_rule(w, (enum bobbin_reason)rule.reason, source);
	if (was_left_by_record(w->callee))
		skip_shared_record(w->arch, &rule);
	if (rule.flags & BOBBIN_RULE_LEAF)
		return frame_likely(w, source, &rule);
	return step_checked(w, *source, &rule);
}

/* Move from w->regs to the caller, or why there is none; @source: of its rule. */
static BOBBIN_OUT_OF_LINE enum bobbin_reason frame_general(struct frame_walk *w, uint8_t *source)
{
	enum bobbin_reason reason = frame_by_source(w, source);

	w->likely |= *source == BOBBIN_SOURCE_GUESS;
	return reason;
}

/* The three registers that plain rules need, in a form that compilers keep in registers. */
struct plain_frame {
	uint64_t pc, sp, fp;
	int64_t fp_off; /* from the caller's SP to where its FP was saved; PLAIN_RA_OFF: it was not */
	uint8_t source;
	bool exact;
	bool inside; /* what tells of the caller lies between the two stack pointers */
};

/* To a caller, member by member: compilers copy the whole through memory. */
static BOBBIN_ALWAYS_INLINE void plain_frame_move(struct plain_frame *f, uint64_t pc, uint64_t sp,
						  uint64_t fp)
{
	f->pc = pc;
	f->sp = sp;
	f->fp = fp;
	f->exact = false;
}

enum frame_case {
	FRAME_GENERAL, /* nothing has changed */
	FRAME_CALLER,
	FRAME_OUTERMOST,
};

static BOBBIN_OUT_OF_LINE bool far_words(struct frame_walk *w, uint64_t cfa, int64_t fp_off,
					 uint64_t words[2])
{
	return !world_word(w, cfa + PLAIN_RA_OFF, &words[0]) &&
	       (fp_off == PLAIN_RA_OFF || !world_word(w, cfa + (uint64_t)fp_off, &words[1]));
}

/* The return address and FP of @f's caller below @cfa; false: there are none. */
static BOBBIN_ALWAYS_INLINE bool plain_words(struct frame_walk *w, struct plain_frame *f,
					     uint64_t cfa, uint64_t *ra, uint64_t *fp)
{
	const uint64_t at = cfa + world_shift(w), size = cfa - f->sp, room = cfa - w->near.start;
	const bool aligned = cfa % sizeof(*ra) == 0;

	f->inside = size >= (uint64_t)-f->fp_off;
	/* both stack pointers are in near memory, the CFA above the other */
	if (BOBBIN_LIKELY(room <= w->near.size) && BOBBIN_LIKELY(size <= room) &&
	    BOBBIN_LIKELY(f->inside) && BOBBIN_LIKELY(aligned)) {
		world_load(w, at + (uint64_t)PLAIN_RA_OFF, ra);
		if (f->fp_off != PLAIN_RA_OFF)
			world_load(w, at + (uint64_t)f->fp_off, fp);
	} else {
		uint64_t words[2] = {0, *fp};

		if (cfa <= f->sp || !aligned || !far_words(w, cfa, f->fp_off, words))
			return false;
		*ra = words[0];
		*fp = words[1];
	}
	return true;
}

/*
 * The caller's registers to @caller, where that takes a plain rule which is at hand,
 * memory that is there, and nothing to be decided.
 */
static BOBBIN_ALWAYS_INLINE enum frame_case frame_plain(struct frame_walk *w, struct plain_frame *f,
							struct plain_frame *caller)
{
	uint64_t word = world_packed(w, f->pc - !f->exact, &f->source);
	uint64_t cfa, ra, fp = f->fp;

	if (!BOBBIN_LIKELY(word))
		return FRAME_GENERAL;
	/* the commonest word; the next address does not have to wait for it */
	if (word == w->forms.record) {
		cfa = f->fp + 16;
		f->fp_off = -16;
	} else if (!plain_cfa(&w->forms, word, f->sp, f->fp, &cfa) || !plain_fp(word, &f->fp_off)) {
		return plain_outermost(word) ? FRAME_OUTERMOST : FRAME_GENERAL;
	}
	if (!BOBBIN_LIKELY(plain_words(w, f, cfa, &ra, &fp)) || !BOBBIN_LIKELY(ra))
		return FRAME_GENERAL;
	plain_frame_move(caller, ra, cfa, fp);
	return FRAME_CALLER;
}

#endif
