/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lost_register.h - a register that a rule needs and that walks do not follow.
 *
 * The CFA of the dynamic loader's resolver is relative to RBX.  The walk goes back to
 * where all registers were last known, and follows this one from there.
 */
#ifndef BOBBIN_CORE_LOST_REGISTER_H
#define BOBBIN_CORE_LOST_REGISTER_H

#include "core/frame_rules.h"
#include "core/frame_walk.h"

/* The most frames between where a register was known and where it is needed. */
#define MAX_FOLLOWED 1024

/* The rule for an address, from a table or for the kernel's page. */
static BOBBIN_ALWAYS_INLINE enum bobbin_source frame_rule(struct frame_walk *w, uint64_t pc,
							  struct bobbin_rule *ret)
{
	if (pc - VSYSCALL_PAGE < VSYSCALL_SIZE && w->arch->default_ra_off) {
		*ret = vsyscall_rule(w->arch);
		return BOBBIN_SOURCE_VSYSCALL;
	}
	return world_rule(w, pc, ret);
}

/* From a frame to its caller, and what a register that @arch follows has there. */
static bool follow_register(struct frame_walk *w, const struct bobbin_arch *arch,
			    struct bobbin_regs *regs, uint64_t *value)
{
	uint64_t gpr[BOBBIN_REG_COUNT], pc = bobbin_regs_lookup_pc(regs);
	struct bobbin_regs other = *regs;
	struct bobbin_rule rule;

	if (!world_follow(w, arch, pc, &rule))
		return false;
	/* in this step the frame pointer is a register like any other */
	gpr[w->arch->fp] = regs->fp;
	other.gpr = gpr;
	other.gpr_known = 1u << w->arch->fp;
	other.fp = *value;
	if (step_by_rule(w, arch, &rule, &other))
		return false;
	frame_rule(w, pc, &rule);
	*value = other.fp;
	return !step_by_rule(w, w->arch, &rule, regs);
}

/* Follow it from where it was known, through the slots in which callees saved it. */
static bool recover_register(struct frame_walk *w, uint8_t reg)
{
	struct bobbin_arch arch = *w->arch;
	struct bobbin_regs regs = w->known;
	uint64_t value;

	if (!w->recoveries || !regs.gpr || !(regs.gpr_known >> reg & 1))
		return false;
	w->recoveries--;
	arch.fp = reg;
	value = regs.gpr[reg];
	for (unsigned int i = 0; regs.sp != w->regs.sp || regs.pc != w->regs.pc; i++)
		if (i == MAX_FOLLOWED || !follow_register(w, &arch, &regs, &value))
			return false;
	w->recovered[reg] = value;
	w->regs.gpr = w->recovered;
	w->regs.gpr_known |= 1u << reg;
	return true;
}

/* By a rule whose CFA is relative to another register than SP and FP. */
static BOBBIN_NEVER_INLINE enum bobbin_reason step_by_lost(struct frame_walk *w,
							   const struct bobbin_rule *rule)
{
	if (rule->cfa.reg >= BOBBIN_REG_COUNT || w->regs.gpr || !recover_register(w, rule->cfa.reg))
		return BOBBIN_REASON_NO_REGISTER;
	w->known = w->regs;
	return frame_step(w, rule, &w->regs);
}

#endif
