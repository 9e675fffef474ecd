/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_switch.h - where the next frame is on another stack.
 *
 * A function that switches stacks keeps the old stack pointer in the frame pointer or in
 * memory, and the CFA of its rule is relative to that.  A walk follows it if it can read
 * the memory and the return address is code.
 */
#ifndef BOBBIN_CORE_STACK_SWITCH_H
#define BOBBIN_CORE_STACK_SWITCH_H

#include "core/frame_walk.h"

/* In one walk, at most: two stacks may refer to each other. */
#define MAX_SWITCHES 64
/* No frame is larger than the usual limit of a whole stack. */
#define LARGEST_FRAME (8ull << 20)
/* Data this close below the innermost frame may be left from earlier calls on the same stack. */
#define USED_BEFORE (16ull << 10)
/* User stacks are in between. */
#define LOWEST_STACK (64ull << 10)
#define HIGHEST_STACK (1ull << 56)

/* Whether a step failed because it did not find the caller's frame on the stack. */
static inline bool stack_has_ended(enum bobbin_reason reason)
{
	return reason == BOBBIN_REASON_STUCK || reason == BOBBIN_REASON_NO_MEMORY ||
	       reason == BOBBIN_REASON_STACK_END;
}

/*
 * The CFA, if it is not measured from the stack pointer and may be of any stack; or where
 * it should be loaded from and cannot.
 */
static inline bool cfa_anywhere(struct frame_walk *w, const struct bobbin_rule *rule, uint64_t *cfa)
{
	const struct bobbin_rule base = {.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = rule->cfa.reg}};
	struct rule_step s = {w, w->arch, rule, &w->regs, 0};
	bool from_sp = rule->cfa.reg == w->arch->sp;

	if (from_sp && rule->cfa.how == BOBBIN_HOW_AT_REG)
		return false;
	if (step_cfa(&s, cfa)) {
		s.rule = &base;
		if (from_sp || step_cfa(&s, cfa))
			return false;
	}
	return *cfa >= LOWEST_STACK && *cfa < HIGHEST_STACK;
}

/* Whether a CFA that did not move away from the leaf is of another stack. */
static inline bool is_other_stack(const struct frame_walk *w, uint64_t cfa)
{
	return cfa < w->bottom && w->bottom - cfa >= USED_BEFORE;
}

/* Whether an address is on another stack than the copied one. */
static inline bool is_beyond_copy(const struct frame_walk *w, uint64_t cfa)
{
	if (cfa <= w->regs.sp)
		return is_other_stack(w, cfa);
	return cfa - w->regs.sp > LARGEST_FRAME;
}

/* To a frame on another stack, if what is found there looks like one. */
static inline enum bobbin_reason switch_stacks(struct frame_walk *w, const struct bobbin_rule *rule)
{
	struct bobbin_rule across = *rule;
	struct bobbin_regs caller = w->regs;

	across.flags |= BOBBIN_RULE_SWITCH;
	if (w->switches == MAX_SWITCHES || frame_step(w, &across, &caller) ||
	    !world_is_code(w, caller.pc - 1))
		return BOBBIN_REASON_OTHER_STACK;
	w->regs = caller;
	w->bottom = caller.sp;
	w->switches++;
	return BOBBIN_REASON_NONE;
}

/* The caller's frame was not found: @reason, or it is on another stack. */
static BOBBIN_NEVER_INLINE enum bobbin_reason leave_stack(struct frame_walk *w,
							  const struct bobbin_rule *rule,
							  enum bobbin_reason reason)
{
	uint64_t cfa;

	/* the interrupted code was not on the stack of the handler */
	if (w->copy_size && w->regs.sp - w->copy_start > w->copy_size)
		return BOBBIN_REASON_OTHER_STACK;
	if (!cfa_anywhere(w, rule, &cfa))
		return reason;
	if (w->is_copy)
		return is_beyond_copy(w, cfa) ? BOBBIN_REASON_OTHER_STACK : reason;
	if (reason != BOBBIN_REASON_STUCK || !is_other_stack(w, cfa))
		return reason;
	return switch_stacks(w, rule);
}

#endif
