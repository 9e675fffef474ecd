/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_word.h - a packed rule with another CFA.  The layout of the word is in rule.c.
 */
#ifndef BOBBIN_CORE_RULE_WORD_H
#define BOBBIN_CORE_RULE_WORD_H

#include "core/deps.h"

#define RULE_WORD_FORM 3ull
#define RULE_WORD_IS_REG 1ull
#define RULE_WORD_REG_SHIFT 2
#define RULE_WORD_OFF_SHIFT 16
#define RULE_WORD_OFF 0xfffffull
#define RULE_WORD_CFA (RULE_WORD_OFF << RULE_WORD_OFF_SHIFT | 0x7f)

/*
 * A rule whose CFA is register @reg, which is below 32, plus @off, and that else says
 * what @word says.  0: it does not fit, or there is no rule in @word.
 */
static BOBBIN_ALWAYS_INLINE uint64_t rule_word_with_cfa(uint64_t word, uint8_t reg, int32_t off)
{
	const uint32_t limit = (RULE_WORD_OFF + 1) / 2 * 8;

	if (!(word & RULE_WORD_FORM) || off & 7 || (uint32_t)off + limit >= 2 * limit)
		return 0;
	return (word & ~RULE_WORD_CFA) | RULE_WORD_IS_REG | (uint64_t)reg << RULE_WORD_REG_SHIFT |
	       ((uint64_t)(uint32_t)off >> 3 & RULE_WORD_OFF) << RULE_WORD_OFF_SHIFT;
}

#endif
