/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_state.h - what a state of a program says beyond rules.
 *
 * A place of struct bobbin_cfi_state that is BOBBIN_HOW_NO_RULE, for the reason
 * CFI_EXPRESSION, has the offset of the expression's block in the section, and in @reg what
 * the expression gives.
 */
#ifndef BOBBIN_CFI_CFI_STATE_H
#define BOBBIN_CFI_CFI_STATE_H

#include <bobbin/cfi.h>

#include "core/deps.h"

enum expression_kind {
	EXPRESSION_NONE, /* there is none */
	EXPRESSION_ADDRESS,
	EXPRESSION_VALUE
};

/* @offset: of the block's size.  Expressions beyond 2 GiB are not found again. */
static inline struct bobbin_place expression_place(enum expression_kind kind, uint64_t offset)
{
	const bool fits = offset <= INT32_MAX;

	return (struct bobbin_place){.off = fits ? (int32_t)offset : 0,
				     .how = BOBBIN_HOW_NO_RULE,
				     .reg = (uint8_t)(fits ? kind : EXPRESSION_NONE)};
}

static inline bool is_expression(const struct bobbin_place *place)
{
	return place->how == BOBBIN_HOW_NO_RULE && place->reg != EXPRESSION_NONE;
}

/*
 * By definition of a rule the caller's SP is the CFA, and mostly tables give nothing else.
 * Compilers for s390x save r15 with the other registers or in a floating-point register, and
 * signal trampolines load it from the same place as the CFA: all of these mean the same.
 */
static inline bool sp_is_cfa(const struct bobbin_arch *arch, const struct bobbin_cfi_state *s)
{
	switch (s->sp.how) {
	case BOBBIN_HOW_SAME:
		return true;
	case BOBBIN_HOW_AT_CFA:
		return s->sp.off == -arch->cfa_bias;
	case BOBBIN_HOW_IN_CFA_MEM:
		return arch->cfa_bias != 0;
	case BOBBIN_HOW_AT_REG:
		return arch->cfa_bias != 0 && !s->sp.off;
	case BOBBIN_HOW_IN_REG_MEM:
		return s->cfa.how == BOBBIN_HOW_IN_REG_MEM && s->sp.reg == s->cfa.reg &&
		       s->sp.off == s->cfa.off && !s->plus && s->index == BOBBIN_NO_INDEX;
	default:
		return false;
	}
}

#endif
