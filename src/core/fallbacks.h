/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fallbacks.h - the caller of a frame that no table covers.
 *
 *	after a system call	the rule before it: nothing has moved
 *	a PC that is no code	a call led there: its return address is on top of the stack
 *	code at the PC		where the way from there to the function's return finds it
 *	frame record		what the frame pointer names, if nothing else can be the caller
 *	root			the only thing above that may be a return address
 *	guess			the frame record, or the code's way, although others could be
 *
 * On x86-64 the return address is on the stack, at or above the stack pointer.  So the first
 * word there that a call may return to is the only one, or it is older than the frame: where
 * it is the one that the frame record or the code names, no caller can be missing.  All but
 * the last are such; a trace with a guess in it is likely and never complete.
 */
#ifndef BOBBIN_CORE_FALLBACKS_H
#define BOBBIN_CORE_FALLBACKS_H

#include "core/bare_code.h"
#include "core/entered_code.h"
#include "core/general_step.h"
#include "core/haskell_frame.h"
#include "core/known_code.h"

/* x86-64: call, with a distance. */
#define DIRECT_CALL 0xe8
#define DIRECT_CALL_SIZE 5

static enum bobbin_reason frame_step_on(struct frame_walk *w, const struct bobbin_rule *rule);

static inline bool leads_to_root(struct frame_walk *w, uint64_t addr, enum code_answer returns)
{
	return world_is_root(w, addr) || (returns == CODE_YES && world_is_entry(w, addr - 1));
}

static inline bool is_resolver(struct frame_walk *w, uint64_t addr)
{
	const struct code_reader code = {world_code, w};

	return known_code_resolver(w->arch, &code, addr);
}

static inline bool leads_on_by_table(struct frame_walk *w, const struct bobbin_regs *caller)
{
	struct bobbin_regs regs = *caller;
	enum bobbin_reason reason;
	struct bobbin_rule rule;

	if (frame_rule(w, bobbin_regs_lookup_pc(&regs), &rule) == BOBBIN_SOURCE_NONE ||
	    rule.flags & BOBBIN_RULE_LEAF)
		return false;
	reason = step_by_rule(w, w->arch, &rule, &regs);
	return reason == BOBBIN_REASON_OUTERMOST ||
	       (!reason && world_returns(w, regs.pc) == CODE_YES);
}

static inline enum code_turn path_turn(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;

	if (!world_code(w, r->path.pc, r->code, sizeof(r->code)))
		return CODE_TURN_STUCK;
	return code_path_turn(w->arch, &r->path, r->code);
}

/* Whether the call before an address is a direct one of StgRun(). */
static inline bool calls_stg_run(struct frame_walk *w, uint64_t addr)
{
	uint8_t call[DIRECT_CALL_SIZE], code[STG_RUN_SIZE];

	return world_code(w, addr - sizeof(call), call, sizeof(call)) && call[0] == DIRECT_CALL &&
	       world_code(w, addr + (uint64_t)(int64_t)(int32_t)load_u32(call + 1, false), code,
			  sizeof(code)) &&
	       stg_run_code(code);
}

static inline uint64_t stg_run_above(struct frame_walk *w)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t word = 0;

	for (uint64_t sp = w->regs.sp; sp < w->regs.sp + 8 * HASKELL_WORDS; sp += 8)
		if (!step_load(&s, sp + STG_RUN_RA, &word) && world_is_code(w, word - 1) &&
		    calls_stg_run(w, word))
			return sp;
	return 0;
}

/* Rules that were inferred are not trusted: a return address is after a call. */
static inline enum bobbin_reason step_checked(struct frame_walk *w, uint8_t source,
					      const struct bobbin_rule *rule)
{
	enum bobbin_reason reason = frame_step_on(w, rule);

	if (reason || source != BOBBIN_SOURCE_CODE || world_returns(w, w->regs.pc) == CODE_YES)
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
	/* nobody is in a signal's return there: see is_after_restorer() */
	if (found == BOBBIN_SOURCE_NONE || found == BOBBIN_SOURCE_TRAMPOLINE)
		return false;
	*source = (uint8_t)found;
	w->in_syscall = true;
	if (!in_table && regs->gpr && regs->gpr_known & 1 && !regs->gpr[0])
		*reason = BOBBIN_REASON_OUTERMOST;
	else
		*reason = step_checked(w, *source, &rule);
	return true;
}

/*
 * Whether a function has just been called that begins right after a restorer, where the PC is in the
 * restorer's system call.  Then a return address is on the stack, and not a signal's frame, whose first
 * word is of flags.
 */
static inline bool is_after_restorer(struct frame_walk *w)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	const struct code_reader code = {world_code, w};
	uint64_t word = 0;

	return w->regs.exact && known_code_syscall(w->arch, &code, w->regs.pc) &&
	       !step_load(&s, w->regs.sp, &word) &&
	       word - LOWEST_CODE < HIGHEST_CODE - LOWEST_CODE &&
	       world_returns(w, word) == CODE_YES;
}

/*
 * Whether it may be a return that has led to a PC which is no code: then that is still below the
 * stack pointer, and what is above it may be an old return address.  Calls through a pointer leave
 * another kind of instruction before theirs than most old ones have.
 */
static inline bool may_have_returned(struct frame_walk *w, uint64_t to)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t below = 0;
	uint8_t call;

	if (!walk_arch(w)->default_ra_off)
		return false;
	if (!step_load(&s, w->regs.sp - sizeof(below), &below) && below != w->regs.pc)
		return false;
	return !world_code(w, to - DIRECT_CALL_SIZE, &call, sizeof(call)) || call == DIRECT_CALL;
}

/*
 * A call of a null pointer, of data, or of memory that was given back: nothing has happened
 * since the call.
 */
static inline bool step_after_bad_call(struct frame_walk *w, uint8_t *source)
{
	struct frame_way *way = &w->resort.by_record;
	struct bobbin_rule *rule = &w->resort.rule;
	uint8_t code;

	if (!w->regs.exact || walk_arch(w)->cfa_bias || world_is_code(w, w->regs.pc))
		return false;
	*rule = (struct bobbin_rule){.index = BOBBIN_NO_INDEX};
	rule->cfa = place_of(BOBBIN_HOW_AT_REG, walk_arch(w)->sp,
			     walk_arch(w)->default_ra_off ? 8 : 0);
	rule->fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	rule->ra = walk_arch(w)->default_ra_off ? place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8) : rule->fp;
	try_way(w, way);
	if (!way->exists || way->returns != CODE_YES)
		return false;
	/* in samples a mapping may be missing, but not where there can be none */
	*source = (w->some_code && world_code(w, w->regs.pc, &code, sizeof(code))) ||
				  (w->is_copy && w->regs.pc - LOWEST_CODE < HIGHEST_CODE) ||
				  may_have_returned(w, way->caller.pc)
			  ? BOBBIN_SOURCE_GUESS
			  : BOBBIN_SOURCE_PATH;
	w->regs = way->caller;
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

/* Whether a walk may go on from there: what is not known as code must be after a call. */
static inline bool is_walked_on(struct frame_walk *w, enum bobbin_reason without)
{
	uint8_t code;

	if (!is_unknown_code(without))
		return true;
	if (!w->some_code || without == BOBBIN_REASON_UNLOADED)
		return false;
	return w->regs.exact ? world_code(w, w->regs.pc, &code, sizeof(code))
			     : world_returns(w, w->regs.pc) == CODE_YES;
}

/* @without: why there is no rule. */
static BOBBIN_NEVER_INLINE enum bobbin_reason step_without_rule(struct frame_walk *w,
								enum bobbin_reason without,
								uint8_t *source)
{
	enum bobbin_reason reason;

	if (step_after_syscall(w, source, &reason))
		return reason;
	if (is_unknown_code(without) && step_after_bad_call(w, source))
		return BOBBIN_REASON_NONE;
	*source = BOBBIN_SOURCE_NONE;
	if (is_walked_on(w, without))
		*source = (uint8_t)step_in_code(w);
	if (*source != BOBBIN_SOURCE_NONE)
		return BOBBIN_REASON_NONE;
	return without ? without : BOBBIN_REASON_BAD_RULE;
}

#endif
