/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_rules.h - rules that are in no table.
 */
#ifndef BOBBIN_CORE_FRAME_RULES_H
#define BOBBIN_CORE_FRAME_RULES_H

#include <bobbin/arch.h>
#include <bobbin/frame.h>
#include <bobbin/rule.h>
#include <bobbin/step.h>

#include "core/deps.h"

/* x86-64's page of old system calls: arch/x86 uapi asm/vsyscall.h */
#define VSYSCALL_CODE 0xffffffffff600000ull
#define VSYSCALL_CODE_SIZE 0x1000

static BOBBIN_ALWAYS_INLINE struct bobbin_place place_of(enum bobbin_how how, uint8_t reg,
							 int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = reg, .off = off};
}

/*
 * The frame record of the architecture's ABI: the frame pointer points to the
 * caller's frame pointer, and the return address follows it.
 */
static BOBBIN_ALWAYS_INLINE struct bobbin_rule frame_record_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, 16);
	rule.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -16);
	return rule;
}

/* The page of old system calls (mov $nr, %rax; syscall; ret) pushes nothing. */
static BOBBIN_ALWAYS_INLINE struct bobbin_rule vsyscall_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, 8);
	rule.ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
	rule.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	return rule;
}

/* No caller. */
static BOBBIN_ALWAYS_INLINE struct bobbin_rule outermost_rule(const struct bobbin_arch *arch)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	rule.cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, 0);
	rule.ra = place_of(BOBBIN_HOW_UNDEFINED, 0, 0);
	rule.fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	return rule;
}

/* A frame record that was left by, or may have been: the frame pointer is from there already. */
static BOBBIN_ALWAYS_INLINE bool was_left_by_record(uint8_t callee)
{
	return callee == BOBBIN_SOURCE_FRAME_POINTER || callee == BOBBIN_SOURCE_GUESS ||
	       callee == BOBBIN_SOURCE_CODE || callee == BOBBIN_SOURCE_PATH;
}

/*
 * SBCL's call_into_lisp makes the frame record of the function that it calls, and its rule
 * starts at that record: CFA = *FP + 16.  A walk that left that function by its record has
 * the frame pointer from there already.
 */
static BOBBIN_ALWAYS_INLINE void skip_shared_record(const struct bobbin_arch *arch,
						    struct bobbin_rule *rule)
{
	const struct bobbin_rule record = frame_record_rule(arch);
	struct bobbin_rule shared = record;

	shared.cfa = place_of(BOBBIN_HOW_IN_REG_MEM, arch->fp, 0);
	shared.plus = 16;
	if (bobbin_rule_equal(rule, &shared))
		*rule = record;
}

/*
 * Where calls leave the return address in a register, most compilers put the frame record at the
 * bottom of the frame.  Of the caller of a frame that was left by its record, a walk knows then only
 * that its stack pointer is not below what the walk has.  A rule relative to that becomes one relative
 * to the frame pointer, where the function saves both words of a record.
 *
 * false: that is a guess.  It may have saved its caller's and never have made a record of its own.
 */
static BOBBIN_ALWAYS_INLINE bool rule_above_record(const struct bobbin_arch *arch,
						   const struct bobbin_regs *regs,
						   struct bobbin_rule *rule)
{
	const bool is_at_sp = rule->cfa.how == BOBBIN_HOW_AT_REG && rule->cfa.reg == arch->sp;
	const struct bobbin_place *fp = &rule->fp;

	if (arch->default_ra_off || arch->cfa_bias || !is_at_sp ||
	    rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return true;
	if (fp->how != BOBBIN_HOW_IN_CFA_MEM || rule->ra.how != BOBBIN_HOW_IN_CFA_MEM ||
	    rule->ra.off != fp->off + 8) {
		*rule = bobbin_rule_none(BOBBIN_REASON_NO_REGISTER);
		return true;
	}
	if (regs->sp + (uint64_t)(int64_t)rule->cfa.off == regs->fp - (uint64_t)(int64_t)fp->off)
		return true;
	rule->cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, -fp->off);
	return false;
}

#endif
