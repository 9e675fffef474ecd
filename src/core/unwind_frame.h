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
#include "core/first_frame.h"
#include "core/general_step.h"
#include "core/plain_frame.h"

static BOBBIN_OUT_OF_LINE bool far_words(struct frame_walk *w, uint64_t cfa, int64_t fp_off,
					 struct frame_words *ret)
{
	return !world_word(w, cfa + PLAIN_RA_OFF, &ret->ra) &&
	       (fp_off == PLAIN_RA_OFF || !world_word(w, cfa + (uint64_t)fp_off, &ret->fp));
}

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
	enum bobbin_reason reason;
	struct bobbin_rule rule;

	if (w->regs.pc + w->fiber_negated < w->fiber_size) {
		*source = BOBBIN_SOURCE_ENTRY;
		return BOBBIN_REASON_OUTERMOST;
	}
	*source = (uint8_t)frame_rule(w, bobbin_regs_lookup_pc(&w->regs), &rule);
	if (*source == BOBBIN_SOURCE_NONE)
		return step_without_rule(w, (enum bobbin_reason)rule.reason, source);
	if (*source == BOBBIN_SOURCE_TRAMPOLINE && is_after_restorer(w))
		return step_without_rule(w, BOBBIN_REASON_NO_FUNCTION, source);
	/* of code that leaves the C stack alone, rules of what it does to it mean nothing */
	if (*source == BOBBIN_SOURCE_CODE && step_haskell(w)) {
		*source = BOBBIN_SOURCE_PATH;
		return BOBBIN_REASON_NONE;
	}
	if (was_left_by_record(w->callee)) {
		skip_shared_record(w->arch, &rule);
		if (!rule_above_record(w->arch, &w->regs, &rule))
			*source = BOBBIN_SOURCE_GUESS;
	}
	if (rule.flags & BOBBIN_RULE_LEAF)
		return frame_likely(w, source, &rule);
	reason = step_checked(w, *source, &rule);
	return reason == BOBBIN_REASON_ZERO_RA && is_first_frame(w, &rule) ? BOBBIN_REASON_OUTERMOST
									   : reason;
}

/* Move from w->regs to the caller, or why there is none; @source: of its rule. */
static BOBBIN_OUT_OF_LINE enum bobbin_reason frame_general(struct frame_walk *w, uint8_t *source)
{
	enum bobbin_reason reason = frame_by_source(w, source);

	w->likely |= *source == BOBBIN_SOURCE_GUESS;
	return reason;
}

#endif
