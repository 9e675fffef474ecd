/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_step.h - what walkers do for a frame besides bobbin_step(): signal frames
 * give all registers, and code without tables may keep a frame record.
 */
#ifndef BOBBIN_UNWIND_FRAME_STEP_H
#define BOBBIN_UNWIND_FRAME_STEP_H

#include <bobbin/unwind.h>

#include "core/trampoline.h"

static inline struct bobbin_place place_of(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

/*
 * The frame record of the architecture's ABI: the caller's frame pointer at
 * the frame pointer, the return address behind it.
 */
static inline struct bobbin_rule frame_record_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, 16);
	rule.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	return rule;
}

/*
 * SBCL's call_into_lisp makes the frame record of the function that it calls, and its rule
 * starts at that record: CFA = *FP + 16.  Who walked that function by its record has the
 * frame pointer from there already.
 */
static inline void skip_shared_record(const struct bobbin_arch *arch, enum bobbin_source callee,
				      struct bobbin_rule *rule)
{
	const struct bobbin_rule record = frame_record_rule(arch);
	struct bobbin_rule shared = record;

	shared.cfa = place_of(BOBBIN_HOW_IN_REG_MEM, arch->fp, 0);
	shared.plus = 16;
	if (callee == BOBBIN_SOURCE_FRAME_POINTER && bobbin_rule_equal(rule, &shared))
		*rule = record;
}

/* x86-64's legacy page: mov $nr, %rax; syscall; ret: nothing has been pushed. */
static inline struct bobbin_rule vsyscall_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, 8);
	rule.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	return rule;
}

/* No caller. */
static inline struct bobbin_rule outermost_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, 0);
	rule.ra = place_of(BOBBIN_HOW_UNDEFINED, 0, 0);
	rule.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	return rule;
}

/*
 * The caller by the frame record.  false: there is none; @ret is untouched.
 * A record may be anything at all: what it names must be code, which the
 * walker has to check.
 */
static inline bool step_by_record(const struct bobbin_arch *arch, const struct bobbin_mem *mem,
				  const struct bobbin_regs *regs, struct bobbin_regs *ret)
{
	struct bobbin_rule rule = frame_record_rule(arch);
	struct bobbin_regs caller = *regs;

	/* no architecture but these two keeps such records; s390x has none */
	if (arch->cfa_bias || !regs->fp || bobbin_step(arch, &rule, mem, &caller))
		return false;
	*ret = caller;
	return true;
}

/* What a signal interrupted has all of its registers in the signal frame. */
static inline void load_interrupted(const struct bobbin_arch *arch, const struct bobbin_mem *mem,
				    uint64_t sp, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *regs)
{
	regs->gpr_known = trampoline_registers(arch, mem, sp, gpr);
	regs->gpr = gpr;
	if (!arch->default_ra_off && regs->gpr_known >> arch->ra & 1) {
		regs->ra = gpr[arch->ra];
		regs->ra_known = true;
	}
}

/* From a frame to its caller by a table's rule; @gpr: room for all registers. */
static inline enum bobbin_reason step_by_rule(const struct bobbin_arch *arch,
					      const struct bobbin_rule *rule,
					      const struct bobbin_mem *mem,
					      uint64_t gpr[BOBBIN_REG_COUNT],
					      struct bobbin_regs *regs)
{
	uint64_t sp = regs->sp;
	enum bobbin_reason reason = bobbin_step(arch, rule, mem, regs);

	if (reason)
		return reason;
	if (rule->flags & BOBBIN_RULE_SIGNAL)
		load_interrupted(arch, mem, sp, gpr, regs);
	return BOBBIN_REASON_NONE;
}

#endif
