/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * general_step.h - a step by a table's rule, where a plain one does not lead to the caller.
 *
 * What that lacks is a register that walks do not follow, a rule that can hold what the table
 * says, or the caller's frame on this stack.
 *
 * The CFA of the dynamic loader's resolver is relative to RBX.  The walk goes back to
 * where all registers were last known, and follows this one from there.  Expressions are
 * worked out by the table.
 *
 * A function that switches stacks keeps the old stack pointer in the frame pointer or in
 * memory, and the CFA of its rule is relative to that.  A walk follows it if it can read
 * the memory and the return address is code.
 */
#ifndef BOBBIN_CORE_GENERAL_STEP_H
#define BOBBIN_CORE_GENERAL_STEP_H

#include "core/frame_rules.h"
#include "core/frame_walk.h"

/* The most frames between where a register was known and where it is needed. */
#define MAX_FOLLOWED 1024
/* Of a walk's operations: a table's program may be long. */
#define TABLE_STEP_COST 16
/* No frame is larger than the usual limit of a whole stack. */
#define LARGEST_FRAME (8ull << 20)
/* Data this close below the innermost frame may be left from earlier calls on the same stack. */
#define USED_BEFORE (16ull << 10)
/* User stacks are in between. */
#define LOWEST_STACK (64ull << 10)
#define HIGHEST_STACK (1ull << 56)

/* The rule for an address, from a table or for the kernel's page. */
static BOBBIN_ALWAYS_INLINE enum bobbin_source frame_rule(struct frame_walk *w, uint64_t pc,
							  struct bobbin_rule *ret)
{
	if (pc - VSYSCALL_CODE < VSYSCALL_CODE_SIZE && w->arch->default_ra_off) {
		*ret = vsyscall_rule(w->arch);
		return BOBBIN_SOURCE_VSYSCALL;
	}
	return world_rule(w, pc, ret);
}

/* A step by the table itself; in: @regs, out: also in @regs, which are untouched on failure. */
static enum bobbin_reason table_step(struct frame_walk *w, const struct bobbin_arch *arch,
				     uint64_t pc, struct bobbin_regs *regs, uint32_t *missing)
{
	struct table_step step = {.arch = arch, .regs = *regs, .operations = &w->operations};
	enum bobbin_reason reason = BOBBIN_REASON_NO_TABLE;

	if (w->operations >= TABLE_STEP_COST) {
		w->operations -= TABLE_STEP_COST;
		reason = world_table_step(w, pc, &step);
	}
	*missing = step.missing;
	if (!reason)
		*regs = step.regs;
	return reason;
}

/* By the rule, or by the expressions that it cannot hold. */
static enum bobbin_reason rule_or_table_step(struct frame_walk *w, const struct bobbin_rule *rule,
					     struct bobbin_regs *regs, uint32_t *missing)
{
	const uint64_t pc = bobbin_regs_lookup_pc(regs);
	enum bobbin_reason reason;

	*missing = 0;
	if (rule->cfa.how == BOBBIN_HOW_NO_RULE && rule->reason == BOBBIN_REASON_CFI_EXPRESSION) {
		reason = table_step(w, w->arch, pc, regs, missing);
		/* what has no table of this kind may have been made of one */
		return reason == BOBBIN_REASON_NO_TABLE ? BOBBIN_REASON_CFI_EXPRESSION : reason;
	}
	reason = step_by_rule(w, w->arch, rule, regs);
	if (reason == BOBBIN_REASON_NO_REGISTER)
		*missing = step_registers(w->arch, rule, regs);
	return reason;
}

/* Registers of a frame: all that are followed. */
struct followed {
	struct bobbin_regs regs;
	uint64_t gpr[BOBBIN_REG_COUNT];
	uint32_t known;
};

/* What the register has in the caller of @f. */
static bool follow_register(struct frame_walk *w, const struct followed *f, uint8_t reg,
			    uint64_t *ret)
{
	struct bobbin_arch arch = *w->arch;
	struct bobbin_regs regs = f->regs;
	uint32_t missing;

	/* in this step the frame pointer is a register like any other */
	arch.fp = reg;
	regs.fp = f->gpr[reg];
	if (table_step(w, &arch, bobbin_regs_lookup_pc(&regs), &regs, &missing))
		return false;
	*ret = regs.fp;
	return true;
}

/* From a frame to its caller, with those registers of @wanted that tables describe. */
static bool follow_frame(struct frame_walk *w, uint32_t wanted, struct followed *f)
{
	struct bobbin_regs caller;
	struct followed next;
	struct bobbin_rule rule;
	uint32_t missing;

	f->gpr[w->arch->fp] = f->regs.fp;
	f->regs.gpr = f->gpr;
	f->regs.gpr_known = f->known | 1u << w->arch->fp;
	next.known = 0;
	for (uint8_t reg = 0; reg < BOBBIN_REG_COUNT; reg++)
		if ((f->known & wanted) >> reg & 1 && follow_register(w, f, reg, &next.gpr[reg]))
			next.known |= 1u << reg;
	caller = f->regs;
	frame_rule(w, bobbin_regs_lookup_pc(&caller), &rule);
	if (rule_or_table_step(w, &rule, &caller, &missing))
		return false;
	for (uint8_t reg = 0; reg < BOBBIN_REG_COUNT; reg++)
		if (next.known >> reg & 1)
			f->gpr[reg] = next.gpr[reg];
	f->known = next.known;
	f->regs = caller;
	return true;
}

/*
 * Follow what @needed names from where it was known, through the slots in which callees saved
 * it, with what frames between here and there needed.
 */
static bool recover_registers(struct frame_walk *w, uint32_t needed)
{
	const struct bobbin_regs *known = &w->known;
	struct followed f = {.regs = *known};

	/* a call leaves its own return address in the link register */
	if (!w->arch->default_ra_off)
		needed &= ~(1u << w->arch->ra);
	if (!needed || !known->gpr || needed & ~known->gpr_known)
		return false;
	w->lost |= needed;
	f.known = known->gpr_known;
	for (uint8_t reg = 0; reg < BOBBIN_REG_COUNT; reg++)
		if (f.known >> reg & 1)
			f.gpr[reg] = known->gpr[reg];
	for (unsigned int i = 0; f.regs.sp != w->regs.sp || f.regs.pc != w->regs.pc; i++)
		if (i == MAX_FOLLOWED || !follow_frame(w, w->lost, &f))
			return false;
	for (uint8_t reg = 0; reg < BOBBIN_REG_COUNT; reg++)
		if (f.known >> reg & 1)
			w->recovered[reg] = f.gpr[reg];
	w->regs.gpr = w->recovered;
	w->regs.gpr_known = f.known;
	return !(needed & ~f.known);
}

/*
 * By a rule that names other registers than SP and FP, or that is none because there are
 * expressions.  Which registers these need is found out one after the other.
 */
static BOBBIN_NEVER_INLINE enum bobbin_reason step_by_lost(struct frame_walk *w,
							   const struct bobbin_rule *rule)
{
	const uint64_t sp = w->regs.sp;
	uint32_t missing, before = 0;
	enum bobbin_reason reason;

	for (;;) {
		reason = rule_or_table_step(w, rule, &w->regs, &missing);
		/* what was recovered once is known, so each turn needs another register */
		if (reason != BOBBIN_REASON_NO_REGISTER || !(missing & ~before))
			break;
		before |= missing;
		if (!w->recoveries)
			break;
		w->recoveries--;
		if (!recover_registers(w, missing))
			break;
	}
	if (!reason && w->regs.exact)
		frame_interrupted(w, signal_frame_at(w->arch, rule, sp), &w->regs);
	return reason;
}

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
