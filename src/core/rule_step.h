/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_step.h - what a rule means at run time.
 *
 * Inlined over world_word(), which the including file defines: bobbin_step() reads
 * through struct bobbin_mem, a walker reads the memory of its world.
 */
#ifndef BOBBIN_CORE_RULE_STEP_H
#define BOBBIN_CORE_RULE_STEP_H

#include <bobbin/step.h>

#include "core/deps.h"
#include "core/trampoline.h"

/*
 * Eight bytes at @addr as this machine reads them, or why they cannot be read; a step
 * reads at most three such words.
 */
static enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret);

/* What a step works on. */
struct rule_step {
	void *world; /* for world_word() */
	const struct bobbin_arch *arch;
	const struct bobbin_rule *rule;
	const struct bobbin_regs *regs;
	uint64_t cfa; /* once it is known */
};

static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_load(const struct rule_step *s, uint64_t addr,
							 uint64_t *ret)
{
	enum bobbin_reason reason;
	uint64_t v = 0;

	reason = world_word(s->world, addr, &v);
	if (!reason)
		*ret = s->arch->big_endian == BOBBIN_HOST_BIG_ENDIAN ? v : __builtin_bswap64(v);
	return reason;
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_register(const struct rule_step *s, uint8_t reg,
							     uint64_t *ret)
{
	const struct bobbin_regs *regs = s->regs;

	if (reg == s->arch->sp)
		*ret = regs->sp;
	else if (reg == s->arch->fp)
		*ret = regs->fp;
	else if (reg == s->arch->ra && regs->ra_known)
		*ret = regs->ra;
	else if (reg == s->arch->pc)
		*ret = regs->pc;
	else if (regs->gpr && reg < BOBBIN_REG_COUNT && regs->gpr_known >> reg & 1)
		*ret = regs->gpr[reg];
	else
		return BOBBIN_REASON_NO_REGISTER;
	return BOBBIN_REASON_NONE;
}

static BOBBIN_ALWAYS_INLINE uint32_t step_register_bit(const struct bobbin_place *place)
{
	bool based = place->how == BOBBIN_HOW_AT_REG || place->how == BOBBIN_HOW_IN_REG_MEM;

	return based && place->reg < BOBBIN_REG_COUNT ? 1u << place->reg : 0;
}

/* A bit for each register that a rule names and that is not known. */
static BOBBIN_ALWAYS_INLINE uint32_t step_registers(const struct bobbin_arch *arch,
						    const struct bobbin_rule *rule,
						    const struct bobbin_regs *regs)
{
	uint32_t known = 1u << arch->sp | 1u << arch->fp;
	uint32_t named = step_register_bit(&rule->cfa) | step_register_bit(&rule->ra) |
			 step_register_bit(&rule->fp);

	if (rule->cfa.how == BOBBIN_HOW_IN_REG_MEM && rule->index < BOBBIN_REG_COUNT)
		named |= 1u << rule->index;
	if (arch->pc < BOBBIN_REG_COUNT)
		known |= 1u << arch->pc;
	if (regs->gpr)
		known |= regs->gpr_known;
	return named & ~known;
}

/* The CFA of a frame as its rule says, unchecked; or why it is not known. */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_cfa(const struct rule_step *s, uint64_t *ret)
{
	const struct bobbin_rule *rule = s->rule;
	uint64_t base = 0, index = 0;
	enum bobbin_reason reason;

	if (rule->cfa.how != BOBBIN_HOW_AT_REG && rule->cfa.how != BOBBIN_HOW_IN_REG_MEM)
		return BOBBIN_REASON_BAD_RULE;
	reason = step_register(s, rule->cfa.reg, &base);
	if (reason)
		return reason;
	base += (uint64_t)(int64_t)rule->cfa.off;
	if (rule->cfa.how == BOBBIN_HOW_AT_REG) {
		*ret = base;
		return BOBBIN_REASON_NONE;
	}

	if (rule->index != BOBBIN_NO_INDEX)
		reason = step_register(s, rule->index, &index);
	if (reason)
		return reason;
	base += 8 * index;
	reason = step_load(s, base, ret);
	/* hand-written code keeps it in the red zone */
	if (reason == BOBBIN_REASON_NO_MEMORY && rule->cfa.reg == s->arch->sp && base < s->regs->sp)
		return BOBBIN_REASON_BELOW_SP;
	if (!reason)
		*ret += (uint64_t)(int64_t)rule->plus;
	return reason;
}

/* RA or FP, other than SAME and UNDEFINED. */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_value(const struct rule_step *s,
							  const struct bobbin_place *place,
							  uint64_t *ret)
{
	uint64_t base = s->cfa;

	if (place->how < BOBBIN_HOW_IN_CFA_MEM || place->how > BOBBIN_HOW_IN_REG_MEM)
		return BOBBIN_REASON_BAD_RULE;
	if (place->how == BOBBIN_HOW_AT_REG || place->how == BOBBIN_HOW_IN_REG_MEM) {
		enum bobbin_reason reason = step_register(s, place->reg, &base);

		if (reason)
			return reason;
	}
	base += (uint64_t)(int64_t)place->off;
	if (place->how == BOBBIN_HOW_IN_CFA_MEM || place->how == BOBBIN_HOW_IN_REG_MEM)
		return step_load(s, base, ret);
	*ret = base;
	return BOBBIN_REASON_NONE;
}

/*
 * What the instruction XPACI does: bit 55, never part of a code, says whether
 * the other high bits of the address were zeros (user space) or ones (kernel).
 */
static BOBBIN_ALWAYS_INLINE uint64_t step_strip(const struct bobbin_arch *arch, uint64_t ra)
{
	return ra >> 55 & 1 ? ra | arch->pac_mask : ra & ~arch->pac_mask;
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_ra(const struct rule_step *s, uint64_t *ret)
{
	const struct bobbin_rule *rule = s->rule;
	enum bobbin_reason reason;
	uint64_t ra = 0;

	switch (rule->ra.how) {
	case BOBBIN_HOW_AT_CFA:
		return BOBBIN_REASON_BAD_RULE;
	case BOBBIN_HOW_AT_PC:
		*ret = s->regs->pc + (uint64_t)(int64_t)rule->ra.off;
		return BOBBIN_REASON_NONE;
	case BOBBIN_HOW_SAME:
		if (s->arch->default_ra_off)
			return BOBBIN_REASON_BAD_RULE;
		reason = step_register(s, s->arch->ra, &ra);
		break;
	default:
		reason = step_value(s, &rule->ra, &ra);
	}
	*ret = rule->flags & BOBBIN_RULE_MANGLED ? step_strip(s->arch, ra) : ra;
	return reason;
}

/*
 * Compilers do not change the rule where an epilogue has popped the frame pointer, so the
 * slot lies below the stack pointer.  Live memory still has the value there.  A copy of
 * the stack does not, but the register has it, too.
 */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_fp(const struct rule_step *s, uint64_t *ret)
{
	enum bobbin_reason reason = BOBBIN_REASON_NONE;
	const struct bobbin_place *fp = &s->rule->fp;

	*ret = s->regs->fp;
	if (fp->how != BOBBIN_HOW_SAME)
		reason = step_value(s, fp, ret);
	if (reason && fp->how == BOBBIN_HOW_IN_CFA_MEM && s->regs->exact &&
	    s->cfa + (uint64_t)(int64_t)fp->off < s->regs->sp)
		return BOBBIN_REASON_NONE;
	return reason;
}

/*
 * Nothing has been called by code whose PC is exact, so its caller's stack pointer may be below
 * its own, if the rule says so outright: glibc's stubs of locks, before 2.20, are described as
 * called by their own instruction behind "sub $128, %rsp".
 */
static BOBBIN_ALWAYS_INLINE bool step_goes_down(const struct rule_step *s)
{
	const struct bobbin_place *cfa = &s->rule->cfa;

	return s->regs->exact && cfa->how == BOBBIN_HOW_AT_REG && cfa->reg == s->arch->sp &&
	       cfa->off < s->arch->cfa_bias;
}

/*
 * Moving towards the outermost frame at each step is what makes loops
 * impossible.  Two frames may share a stack pointer only where nothing has
 * been pushed yet, and only signal handlers and what is known to switch stacks may
 * run on another one.
 */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_check_sp(const struct rule_step *s, uint64_t sp)
{
	if (sp & (s->arch->sp_align - 1u))
		return BOBBIN_REASON_MISALIGNED;
	if (BOBBIN_LIKELY(sp > s->regs->sp) || (sp == s->regs->sp && s->regs->exact))
		return BOBBIN_REASON_NONE;
	if (s->rule->flags & (BOBBIN_RULE_SIGNAL | BOBBIN_RULE_SWITCH) || step_goes_down(s))
		return BOBBIN_REASON_NONE;
	return BOBBIN_REASON_STUCK;
}

/* As bobbin_step(), in the memory of @world. */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason step_by_rule(void *world,
							    const struct bobbin_arch *arch,
							    const struct bobbin_rule *rule,
							    struct bobbin_regs *regs)
{
	struct rule_step s = {world, arch, rule, regs, 0};
	enum bobbin_reason reason;
	uint64_t sp, ra = 0, fp = 0;

	if (rule->cfa.how == BOBBIN_HOW_NO_RULE)
		return rule->reason ? (enum bobbin_reason)rule->reason : BOBBIN_REASON_BAD_RULE;
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return BOBBIN_REASON_OUTERMOST;

	reason = step_cfa(&s, &s.cfa);
	if (reason)
		return reason;
	sp = s.cfa - arch->cfa_bias;
	reason = step_check_sp(&s, sp);
	if (reason)
		return reason;

	reason = step_ra(&s, &ra);
	if (!reason)
		reason = step_fp(&s, &fp);
	/* interrupted code may have called a null pointer */
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

/* All registers of interrupted code, from the signal frame at @sp; a bit for each. */
static BOBBIN_ALWAYS_INLINE uint32_t step_interrupted(void *world, const struct bobbin_arch *arch,
						      uint64_t sp, uint64_t gpr[BOBBIN_REG_COUNT])
{
	const struct rule_step s = {.world = world, .arch = arch};
	uint32_t known = 0;
	uint64_t slot;

	for (unsigned int i = 0; i < BOBBIN_REG_COUNT && trampoline_slot(arch, i, sp, &slot); i++)
		if (!step_load(&s, slot, &gpr[i]))
			known |= 1u << i;
	return known;
}

#endif
