/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_frame.h - whether a frame whose return address is 0 is the first one of its stack.
 *
 *	stack of a fiber ── 0 ◄── function: push, sub, … ─► PC
 *
 * Libraries of fibers begin a stack with a word of 0, and jump to a function.  A zero is no evidence
 * by itself: a wrong rule may have led to it.  But from the function's start on the code says where
 * its return address is, without the rule.  If both name the same word, the function was entered with
 * that return address, and there is nobody to return to.
 *
 * In execve() the stack may be that of the new program already, which is full of zeros.
 *
 * What a table calls a function may be a part of one, which is jumped to with words on the stack.
 * Then its returns are elsewhere.  So each return must be found there, or the function have none and
 * be followed to all its ends.
 */
#ifndef BOBBIN_CORE_FIRST_FRAME_H
#define BOBBIN_CORE_FIRST_FRAME_H

#include "core/frame_walk.h"
#include "core/known_code.h"

/* Whether the stack may have been replaced: a system call is why the PC is where it is. */
static inline bool may_be_new_stack(struct frame_walk *w)
{
	const struct code_reader code = {world_code, w};

	return w->regs.exact && known_code_syscall(walk_arch(w), &code, w->regs.pc);
}

/* Whether the frame of w->regs, whose return address @rule has found to be 0, has no caller. */
static inline bool is_first_frame(struct frame_walk *w, const struct bobbin_rule *rule)
{
	struct rule_step s = {w, walk_arch(w), rule, &w->regs, 0};
	struct bobbin_rule by_code;
	uint64_t cfa;

	if (may_be_new_stack(w) || rule->flags || rule->ra.how != BOBBIN_HOW_IN_CFA_MEM ||
	    rule->ra.off != walk_arch(w)->default_ra_off || step_cfa(&s, &cfa) ||
	    !world_start_rule(w, &by_code))
		return false;
	s.rule = &by_code;
	return !step_cfa(&s, &s.cfa) && s.cfa == cfa;
}

#endif
