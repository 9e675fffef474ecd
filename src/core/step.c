/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/step.h>

#include "core/deps.h"
#include "core/step_cfa.h"

static enum bobbin_reason load(const struct bobbin_arch *arch, const struct bobbin_mem *mem,
			       uint64_t addr, uint64_t *ret)
{
	enum bobbin_reason reason;
	uint64_t v;

	reason = mem->read(mem->ctx, addr, &v, sizeof(v));
	if (!reason)
		*ret = arch->big_endian == BOBBIN_HOST_BIG_ENDIAN ? v : __builtin_bswap64(v);
	return reason;
}

static enum bobbin_reason reg_value(const struct bobbin_arch *arch, const struct bobbin_regs *regs,
				    uint8_t reg, uint64_t *ret)
{
	if (reg == arch->sp)
		*ret = regs->sp;
	else if (reg == arch->fp)
		*ret = regs->fp;
	else if (reg == arch->ra && regs->ra_known)
		*ret = regs->ra;
	else if (regs->gpr && reg < BOBBIN_REG_COUNT && regs->gpr_known >> reg & 1)
		*ret = regs->gpr[reg];
	else
		return BOBBIN_REASON_NO_REGISTER;
	return BOBBIN_REASON_NONE;
}

enum bobbin_reason step_cfa(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			    const struct bobbin_mem *mem, const struct bobbin_regs *regs,
			    uint64_t *ret)
{
	uint64_t base, index = 0;
	enum bobbin_reason reason;

	if (rule->cfa.how != BOBBIN_HOW_AT_REG && rule->cfa.how != BOBBIN_HOW_IN_REG_MEM)
		return BOBBIN_REASON_BAD_RULE;
	reason = reg_value(arch, regs, rule->cfa.reg, &base);
	if (reason)
		return reason;
	base += (uint64_t)(int64_t)rule->cfa.off;
	if (rule->cfa.how == BOBBIN_HOW_AT_REG) {
		*ret = base;
		return BOBBIN_REASON_NONE;
	}

	if (rule->index != BOBBIN_NO_INDEX)
		reason = reg_value(arch, regs, rule->index, &index);
	if (reason)
		return reason;
	reason = load(arch, mem, base + 8 * index, ret);
	/* hand-written code keeps it where only signals do not write */
	if (reason == BOBBIN_REASON_NO_MEMORY && rule->cfa.reg == arch->sp &&
	    base + 8 * index < regs->sp)
		return BOBBIN_REASON_BELOW_SP;
	if (!reason)
		*ret += (uint64_t)(int64_t)rule->plus;
	return reason;
}

/* RA or FP, other than SAME and UNDEFINED. */
static enum bobbin_reason find_value(const struct bobbin_arch *arch, struct bobbin_place place,
				     uint64_t cfa, const struct bobbin_mem *mem,
				     const struct bobbin_regs *regs, uint64_t *ret)
{
	uint64_t base = cfa;

	if (place.how < BOBBIN_HOW_IN_CFA_MEM || place.how > BOBBIN_HOW_IN_REG_MEM)
		return BOBBIN_REASON_BAD_RULE;
	if (place.how == BOBBIN_HOW_AT_REG || place.how == BOBBIN_HOW_IN_REG_MEM) {
		enum bobbin_reason reason = reg_value(arch, regs, place.reg, &base);

		if (reason)
			return reason;
	}
	base += (uint64_t)(int64_t)place.off;
	if (place.how == BOBBIN_HOW_IN_CFA_MEM || place.how == BOBBIN_HOW_IN_REG_MEM)
		return load(arch, mem, base, ret);
	*ret = base;
	return BOBBIN_REASON_NONE;
}

/*
 * What the instruction XPACI does: bit 55, never part of a code, says whether
 * the other high bits of the address were zeros (user space) or ones (kernel).
 */
static uint64_t strip(const struct bobbin_arch *arch, uint64_t ra)
{
	return ra >> 55 & 1 ? ra | arch->pac_mask : ra & ~arch->pac_mask;
}

static enum bobbin_reason find_ra(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
				  uint64_t cfa, const struct bobbin_mem *mem,
				  const struct bobbin_regs *regs, uint64_t *ret)
{
	enum bobbin_reason reason;
	uint64_t ra = 0;

	if (rule->ra.how == BOBBIN_HOW_AT_CFA ||
	    (rule->ra.how == BOBBIN_HOW_SAME && arch->default_ra_off))
		return BOBBIN_REASON_BAD_RULE;
	if (rule->ra.how == BOBBIN_HOW_SAME)
		reason = reg_value(arch, regs, arch->ra, &ra);
	else
		reason = find_value(arch, rule->ra, cfa, mem, regs, &ra);

	*ret = rule->flags & BOBBIN_RULE_MANGLED ? strip(arch, ra) : ra;
	return reason;
}

/*
 * Where an epilogue has popped the frame pointer, compilers leave the rule as
 * it was: the slot lies below the stack pointer then.  Live memory still has
 * the value there, a copy of the stack has not, but so has the register.
 */
static enum bobbin_reason find_fp(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
				  uint64_t cfa, const struct bobbin_mem *mem,
				  const struct bobbin_regs *regs, uint64_t *ret)
{
	enum bobbin_reason reason = BOBBIN_REASON_NONE;
	uint64_t slot = cfa + (uint64_t)(int64_t)rule->fp.off;

	*ret = regs->fp;
	if (rule->fp.how != BOBBIN_HOW_SAME)
		reason = find_value(arch, rule->fp, cfa, mem, regs, ret);
	if (reason && rule->fp.how == BOBBIN_HOW_IN_CFA_MEM && regs->exact && slot < regs->sp)
		return BOBBIN_REASON_NONE;
	return reason;
}

/*
 * Moving towards the outermost frame at each step is what makes loops
 * impossible.  Two frames may share a stack pointer only where nothing has
 * been pushed yet, and only signal handlers and what is known to switch stacks may
 * run on another one.
 */
static enum bobbin_reason check_sp(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
				   const struct bobbin_regs *regs, uint64_t sp)
{
	if (sp & (arch->sp_align - 1u))
		return BOBBIN_REASON_MISALIGNED;
	if (rule->flags & (BOBBIN_RULE_SIGNAL | BOBBIN_RULE_SWITCH))
		return BOBBIN_REASON_NONE;
	if (sp < regs->sp || (sp == regs->sp && !regs->exact))
		return BOBBIN_REASON_STUCK;
	return BOBBIN_REASON_NONE;
}

BOBBIN_API enum bobbin_reason bobbin_step(const struct bobbin_arch *arch,
					  const struct bobbin_rule *rule,
					  const struct bobbin_mem *mem, struct bobbin_regs *regs)
{
	enum bobbin_reason reason;
	uint64_t cfa, sp, ra, fp;

	if (rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return rule->reason ? (enum bobbin_reason)rule->reason : BOBBIN_REASON_BAD_RULE;
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return BOBBIN_REASON_OUTERMOST;

	reason = step_cfa(arch, rule, mem, regs, &cfa);
	if (reason)
		return reason;
	sp = cfa - arch->cfa_bias;
	reason = check_sp(arch, rule, regs, sp);
	if (reason)
		return reason;

	reason = find_ra(arch, rule, cfa, mem, regs, &ra);
	if (!reason)
		reason = find_fp(arch, rule, cfa, mem, regs, &fp);
	/* what a signal interrupted may have called a null pointer */
	if (!reason && !ra && !(rule->flags & BOBBIN_RULE_SIGNAL))
		reason = BOBBIN_REASON_ZERO_RA;
	if (reason)
		return reason;

	regs->pc = ra;
	regs->sp = sp;
	regs->fp = fp;
	regs->ra = 0;
	regs->gpr = NULL;
	regs->gpr_known = 0;
	regs->exact = rule->flags & BOBBIN_RULE_SIGNAL;
	regs->ra_known = false;
	return BOBBIN_REASON_NONE;
}
