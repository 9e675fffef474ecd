/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_resort.h - the caller of a frame that no table covers.
 *
 *	after a system call	the rule before it: nothing has moved
 *	frame record		what the frame pointer names, if that is code
 *	root			the only thing above that may be a return address
 *
 * The last one is not a guess.  A function's return address is on the stack, at or above
 * the stack pointer; if the first word that can be it is a root's, the root is the caller.
 */
#ifndef BOBBIN_CORE_LAST_RESORT_H
#define BOBBIN_CORE_LAST_RESORT_H

#include "core/known_code.h"
#include "core/lost_register.h"

/* Frames of functions that call main() or a thread's function are small. */
#define ROOT_SEARCH_WORDS 64

static enum bobbin_reason frame_step_on(struct frame_walk *w, const struct bobbin_rule *rule);

/* Rules that were inferred are not trusted: a return address is after a call. */
static inline enum bobbin_reason step_checked(struct frame_walk *w, uint8_t source,
					      const struct bobbin_rule *rule)
{
	const struct code_reader code = {world_code, w};
	enum bobbin_reason reason = frame_step_on(w, rule);

	if (reason || source != BOBBIN_SOURCE_CODE || known_code_return(w->arch, &code, w->regs.pc))
		return reason;
	return BOBBIN_REASON_NO_CALL;
}

/*
 * In a system call the PC is after the instruction.  If that is the last one of its
 * function, or of the table, as in clone(), the rule before it holds; but not in the child
 * of clone(), which starts there on a stack of its own.
 */
static inline bool step_after_syscall(struct frame_walk *w, uint8_t *source,
				      enum bobbin_reason *reason)
{
	const struct code_reader code = {world_code, w};
	const struct bobbin_regs *regs = &w->regs;
	enum bobbin_source found;
	struct bobbin_rule rule;
	bool in_table = true;

	if (!regs->exact || !known_code_syscall(w->arch, &code, regs->pc))
		return false;
	found = frame_rule(w, regs->pc - 1, &rule);
	if (found == BOBBIN_SOURCE_NONE) {
		in_table = false;
		found = frame_rule(w, regs->pc - 3, &rule);
	}
	if (found == BOBBIN_SOURCE_NONE)
		return false;
	*source = (uint8_t)found;
	w->in_syscall = true;
	if (!in_table && regs->gpr && regs->gpr_known & 1 && !regs->gpr[0])
		*reason = BOBBIN_REASON_OUTERMOST;
	else
		*reason = step_checked(w, *source, &rule);
	return true;
}

/* A record may be anything at all: what it names must be code. */
static inline bool step_by_record(struct frame_walk *w)
{
	const struct bobbin_rule rule = frame_record_rule(w->arch);
	struct bobbin_regs caller = w->regs;

	/* s390x, which has a bias, has no such records */
	if (w->arch->cfa_bias || !caller.fp || frame_step(w, &rule, &caller) ||
	    !world_is_code(w, caller.pc - 1))
		return false;
	w->regs = caller;
	return true;
}

/* Only where calls push the return address. */
static inline bool step_to_root(struct frame_walk *w)
{
	const struct rule_step s = {.world = w, .arch = w->arch};
	const struct code_reader code = {world_code, w};
	uint64_t word = 0, sp = w->regs.sp;

	if (!w->arch->default_ra_off || sp % sizeof(word) ||
	    (!w->regs.exact && !known_code_return(w->arch, &code, w->regs.pc)))
		return false;
	for (unsigned int i = 0; i < ROOT_SEARCH_WORDS; i++, sp += sizeof(word)) {
		if (step_load(&s, sp, &word))
			return false;
		if (!word || !world_is_code(w, word - 1))
			continue;
		if (known_code_root(w->arch, &code, word))
			break;
		if (!known_code_return(w->arch, &code, word))
			continue;
		if (!world_is_entry(w, word - 1))
			return false;
		break;
	}
	if (sp - w->regs.sp == ROOT_SEARCH_WORDS * sizeof(word))
		return false;
	w->regs = (struct bobbin_regs){.pc = word, .sp = sp + sizeof(word)};
	return true;
}

/*
 * A PC outside of code may be due to a wrong stack pointer.  Code that has taken the place of
 * unloaded code has tables, and maybe a large frame, in which old roots are left.
 */
static inline bool is_unknown_code(enum bobbin_reason without)
{
	return without == BOBBIN_REASON_NO_MAPPING || without == BOBBIN_REASON_UNLOADED;
}

/* @without: why there is no rule. */
static BOBBIN_NEVER_INLINE enum bobbin_reason step_without_rule(struct frame_walk *w,
								enum bobbin_reason without,
								uint8_t *source)
{
	enum bobbin_reason reason;

	if (step_after_syscall(w, source, &reason))
		return reason;
	if (step_by_record(w)) {
		*source = BOBBIN_SOURCE_FRAME_POINTER;
		return BOBBIN_REASON_NONE;
	}
	if (is_unknown_code(without) || !step_to_root(w))
		return without ? without : BOBBIN_REASON_BAD_RULE;
	*source = BOBBIN_SOURCE_ROOT_SEARCH;
	return BOBBIN_REASON_NONE;
}

#endif
