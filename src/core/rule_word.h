/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_word.h - packed rules that differ in one place.  The layout of the word is in rule.c.
 */
#ifndef BOBBIN_CORE_RULE_WORD_H
#define BOBBIN_CORE_RULE_WORD_H

#include "core/deps.h"

#define RULE_WORD_FORM 3ull
#define RULE_WORD_REG_SHIFT 2
#define RULE_WORD_REG (31ull << RULE_WORD_REG_SHIFT)
#define RULE_WORD_OFF_SHIFT 16
#define RULE_WORD_OFF (0xfffffull << RULE_WORD_OFF_SHIFT)
#define RULE_WORD_OFF_LIMIT (1ull << 19)
#define RULE_WORD_RA_FORM (7ull << 10)
#define RULE_WORD_RA_NEXT_TO_FP (5ull << 10) /* this and greater forms depend on FP */
#define RULE_WORD_FP_FORM (7ull << 13)
#define RULE_WORD_FP_IN_CFA_MEM (1ull << 13)
#define RULE_WORD_FP_SHIFT 48
#define RULE_WORD_FP_LIMIT (1 << 18)

/* Whether a packed rule is one, not the reason why there is none. */
static BOBBIN_ALWAYS_INLINE bool rule_word_has_rule(uint64_t word)
{
	return word & RULE_WORD_FORM;
}

/*
 * The rule in @word, whose CFA is a register and no offset, with offset @off.  0: it is negative or
 * does not fit.
 */
static BOBBIN_ALWAYS_INLINE uint64_t rule_word_at_offset(uint64_t word, uint64_t off)
{
	/* what is no multiple of 8 becomes very large */
	const uint64_t units = off >> 3 | off << 61;

	return units < RULE_WORD_OFF_LIMIT ? word | units << RULE_WORD_OFF_SHIFT : 0;
}

/*
 * The rule in @word, whose CFA is a register plus an offset, with offset @off.  0: it is
 * negative or does not fit, or @word is 0.
 */
static BOBBIN_ALWAYS_INLINE uint64_t rule_word_with_offset(uint64_t word, uint64_t off)
{
	return word ? rule_word_at_offset(word & ~RULE_WORD_OFF, off) : 0;
}

/* The rule in @word with a CFA at another register, which is below 32, too; 0 as before. */
static BOBBIN_ALWAYS_INLINE uint64_t rule_word_with_cfa(uint64_t word, uint8_t reg, uint64_t off)
{
	word = rule_word_with_offset(word, off);
	return word ? (word & ~RULE_WORD_REG) | (uint64_t)reg << RULE_WORD_REG_SHIFT : 0;
}

/*
 * The rule in @word with FP in memory at CFA + @off.  0: that does not fit, RA's form depends
 * on FP's, or @word is 0.
 */
static BOBBIN_ALWAYS_INLINE uint64_t rule_word_with_fp(uint64_t word, int32_t off)
{
	const uint64_t low = (1ull << RULE_WORD_FP_SHIFT) - 1;

	if (!word || off & 7 || off < -RULE_WORD_FP_LIMIT || off >= RULE_WORD_FP_LIMIT ||
	    (word & RULE_WORD_RA_FORM) >= RULE_WORD_RA_NEXT_TO_FP)
		return 0;
	return (word & low & ~RULE_WORD_FP_FORM) | RULE_WORD_FP_IN_CFA_MEM |
	       (uint64_t)(off >> 3) << RULE_WORD_FP_SHIFT;
}

#endif
