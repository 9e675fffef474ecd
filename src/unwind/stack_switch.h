/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_switch.h - where the next frame is on another stack.
 *
 * A function that changes stacks keeps the old stack pointer in the frame pointer or in
 * memory, and its rule measures the CFA from there.  A walk follows that where it has
 * the memory, if the return address is code.
 */
#ifndef BOBBIN_UNWIND_STACK_SWITCH_H
#define BOBBIN_UNWIND_STACK_SWITCH_H

#include <bobbin/step.h>

#include "core/step_cfa.h"

/* In one walk, at most: two stacks may lead to each other for ever. */
#define MAX_SWITCHES 64
/* Larger frames are none: the usual limit of a whole stack. */
#define LARGEST_FRAME (8ull << 20)
/* What is closer below the innermost frame may be left of earlier calls on the same stack. */
#define USED_BEFORE (16ull << 10)
/* User stacks are in between. */
#define LOWEST_STACK (64ull << 10)
#define HIGHEST_STACK (1ull << 56)

/* The stack that a walk is on. */
struct stack_in_use {
	uint64_t bottom; /* the stack pointer of the innermost frame on it */
	uint32_t switches;
};

/* Whether a step failed since it did not find the caller's frame on the stack. */
static inline bool stack_has_ended(enum bobbin_reason reason)
{
	return reason == BOBBIN_REASON_STUCK || reason == BOBBIN_REASON_NO_MEMORY ||
	       reason == BOBBIN_REASON_STACK_END;
}

/*
 * The CFA, if it is not measured from the stack pointer and may be of any stack; or where
 * it should be loaded from and cannot.
 */
static inline bool cfa_anywhere(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
				const struct bobbin_mem *mem, const struct bobbin_regs *regs,
				uint64_t *cfa)
{
	const struct bobbin_rule base = {.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = rule->cfa.reg}};

	if (rule->cfa.reg == arch->sp && rule->cfa.how == BOBBIN_HOW_AT_REG)
		return false;
	if (step_cfa(arch, rule, mem, regs, cfa) &&
	    (rule->cfa.reg == arch->sp || step_cfa(arch, &base, mem, regs, cfa)))
		return false;
	return *cfa >= LOWEST_STACK && *cfa < HIGHEST_STACK;
}

/* Whether a CFA that did not move away from the leaf is of another stack. */
static inline bool is_other_stack(const struct stack_in_use *stack, uint64_t cfa)
{
	return cfa < stack->bottom && stack->bottom - cfa >= USED_BEFORE;
}

/* The rule as one that may lead to another stack. */
static inline struct bobbin_rule across_stacks(const struct bobbin_rule *rule)
{
	struct bobbin_rule across = *rule;

	across.flags |= BOBBIN_RULE_SWITCH;
	return across;
}

#endif
