/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packed form of a rule.  Offsets are stored in units of 8 bytes.
 *
 *	 0..1	CFA form: none, register, memory, memory with index
 *	 2..6	CFA base register
 *	 7..9	flags
 *	10..12	RA form
 *	13..15	FP form
 *	16..35	CFA: offset 20 | plus 8, offset 12 | plus 8, index 5, offset 7
 *	36..47	RA: offset 12 | register 5, offset 7
 *	48..63	FP: offset 16 | register 5, offset 11
 *	36..63	RA from the PC: offset 28, in bytes; FP is unchanged
 *
 * Without a rule the word is the reason times four.
 */
#include <bobbin/rule.h>

#include "core/deps.h"

enum cfa_form {
	CFA_NONE,
	CFA_REG,
	CFA_MEM,
	CFA_INDEXED
};

enum ra_form {
	RA_SAME,
	RA_UNDEFINED,
	RA_CFA_MEM,
	RA_REG,
	RA_REG_MEM,
	RA_NEXT_TO_FP,
	RA_PC,
	RA_CFA_MEM_SWITCH /* with BOBBIN_RULE_SWITCH, which is no bit of the flags */
};

enum fp_form {
	FP_SAME,
	FP_CFA_MEM,
	FP_AT_CFA,
	FP_REG,
	FP_REG_MEM
};

struct field {
	uint8_t shift, bits;
};

static const struct field cfa_form = {0, 2}, cfa_reg = {2, 5}, flags_field = {7, 3},
			  ra_form = {10, 3}, fp_form = {13, 3};
static const struct field cfa_off = {16, 20};
static const struct field mem_plus = {16, 8}, mem_off = {24, 12};
static const struct field indexed_reg = {24, 5}, indexed_off = {29, 7};
static const struct field ra_off = {36, 12}, ra_reg = {36, 5}, ra_reg_off = {41, 7};
static const struct field ra_pc_off = {36, 28};
static const struct field fp_off = {48, 16}, fp_reg = {48, 5}, fp_reg_off = {53, 11};

static BOBBIN_ALWAYS_INLINE uint64_t mask_of(struct field f)
{
	return (1ull << f.bits) - 1;
}

static BOBBIN_ALWAYS_INLINE uint64_t get(uint64_t word, struct field f)
{
	return word >> f.shift & mask_of(f);
}

static BOBBIN_ALWAYS_INLINE bool put(uint64_t *word, struct field f, uint64_t value)
{
	if (value > mask_of(f))
		return false;
	*word |= value << f.shift;
	return true;
}

static BOBBIN_ALWAYS_INLINE int64_t get_signed(uint64_t word, struct field f)
{
	uint64_t sign = 1ull << (f.bits - 1);

	return (int64_t)((get(word, f) ^ sign) - sign);
}

static BOBBIN_ALWAYS_INLINE int32_t get_off(uint64_t word, struct field f)
{
	return (int32_t)(get_signed(word, f) * 8);
}

static BOBBIN_ALWAYS_INLINE bool fits_off(struct field f, int32_t off)
{
	int32_t limit = 1 << (f.bits - 1);

	return !(off & 7) && off >> 3 >= -limit && off >> 3 < limit;
}

static BOBBIN_ALWAYS_INLINE bool put_off(uint64_t *word, struct field f, int32_t off)
{
	if (!fits_off(f, off))
		return false;
	*word |= ((uint64_t)(off >> 3) & mask_of(f)) << f.shift;
	return true;
}

static bool pack_cfa(const struct bobbin_rule *rule, uint64_t *word)
{
	if (!put(word, cfa_reg, rule->cfa.reg))
		return false;
	if (rule->cfa.how == BOBBIN_HOW_AT_REG)
		return put(word, cfa_form, CFA_REG) && put_off(word, cfa_off, rule->cfa.off);
	if (rule->cfa.how != BOBBIN_HOW_IN_REG_MEM || !put_off(word, mem_plus, rule->plus))
		return false;
	if (rule->index == BOBBIN_NO_INDEX)
		return put(word, cfa_form, CFA_MEM) && put_off(word, mem_off, rule->cfa.off);
	return put(word, cfa_form, CFA_INDEXED) && put(word, indexed_reg, rule->index) &&
	       put_off(word, indexed_off, rule->cfa.off);
}

static bool pack_ra_from_pc(const struct bobbin_rule *rule, uint64_t *word)
{
	int32_t off = rule->ra.off, limit = 1 << (ra_pc_off.bits - 1);

	return rule->fp.how == BOBBIN_HOW_SAME && off >= -limit && off < limit &&
	       put(word, ra_form, RA_PC) &&
	       put(word, ra_pc_off, (uint64_t)off & mask_of(ra_pc_off));
}

static bool pack_ra(const struct bobbin_rule *rule, uint64_t *word)
{
	const struct bobbin_place *ra = &rule->ra;

	if (rule->flags & BOBBIN_RULE_SWITCH)
		return ra->how == BOBBIN_HOW_IN_CFA_MEM && put(word, ra_form, RA_CFA_MEM_SWITCH) &&
		       put_off(word, ra_off, ra->off);
	switch (ra->how) {
	case BOBBIN_HOW_SAME:
		return put(word, ra_form, RA_SAME);
	case BOBBIN_HOW_UNDEFINED:
		return put(word, ra_form, RA_UNDEFINED);
	case BOBBIN_HOW_AT_REG:
		return put(word, ra_form, RA_REG) && put(word, ra_reg, ra->reg) &&
		       put_off(word, ra_reg_off, ra->off);
	case BOBBIN_HOW_IN_REG_MEM:
		return put(word, ra_form, RA_REG_MEM) && put(word, ra_reg, ra->reg) &&
		       put_off(word, ra_reg_off, ra->off);
	case BOBBIN_HOW_IN_CFA_MEM:
		if (fits_off(ra_off, ra->off))
			return put(word, ra_form, RA_CFA_MEM) && put_off(word, ra_off, ra->off);
		/* AArch64 keeps both at the far end of large frames */
		return rule->fp.how == BOBBIN_HOW_IN_CFA_MEM &&
		       (int64_t)ra->off == (int64_t)rule->fp.off + 8 &&
		       put(word, ra_form, RA_NEXT_TO_FP);
	case BOBBIN_HOW_AT_PC:
		return pack_ra_from_pc(rule, word);
	default:
		return false;
	}
}

static bool pack_fp(const struct bobbin_place *fp, uint64_t *word)
{
	switch (fp->how) {
	case BOBBIN_HOW_SAME:
		return put(word, fp_form, FP_SAME);
	case BOBBIN_HOW_IN_CFA_MEM:
		return put(word, fp_form, FP_CFA_MEM) && put_off(word, fp_off, fp->off);
	case BOBBIN_HOW_AT_CFA:
		return put(word, fp_form, FP_AT_CFA) && put_off(word, fp_off, fp->off);
	case BOBBIN_HOW_AT_REG:
		return put(word, fp_form, FP_REG) && put(word, fp_reg, fp->reg) &&
		       put_off(word, fp_reg_off, fp->off);
	case BOBBIN_HOW_IN_REG_MEM:
		return put(word, fp_form, FP_REG_MEM) && put(word, fp_reg, fp->reg) &&
		       put_off(word, fp_reg_off, fp->off);
	default:
		return false;
	}
}

BOBBIN_API int bobbin_rule_pack(const struct bobbin_rule *rule, uint64_t *ret)
{
	uint64_t word = 0;

	if (rule->cfa.how == BOBBIN_HOW_NO_RULE) {
		*ret = (uint64_t)(rule->reason ? rule->reason : BOBBIN_REASON_BAD_RULE) << 2;
		return 0;
	}
	if (!put(&word, flags_field, rule->flags & ~(unsigned int)BOBBIN_RULE_SWITCH) ||
	    !pack_cfa(rule, &word) || !pack_ra(rule, &word) || !pack_fp(&rule->fp, &word))
		return -BOBBIN_ERANGE;
	*ret = word;
	return 0;
}

static void unpack_cfa(uint64_t word, struct bobbin_rule *rule)
{
	rule->cfa.reg = (uint8_t)get(word, cfa_reg);
	rule->cfa.how = BOBBIN_HOW_IN_REG_MEM;
	switch (get(word, cfa_form)) {
	case CFA_REG:
		rule->cfa.how = BOBBIN_HOW_AT_REG;
		rule->cfa.off = get_off(word, cfa_off);
		return;
	case CFA_MEM:
		rule->cfa.off = get_off(word, mem_off);
		break;
	default:
		rule->cfa.off = get_off(word, indexed_off);
		rule->index = (uint8_t)get(word, indexed_reg);
	}
	rule->plus = (int16_t)get_off(word, mem_plus);
}

static BOBBIN_ALWAYS_INLINE struct bobbin_place place(enum bobbin_how how, uint64_t reg,
						      int32_t off)
{
	return (struct bobbin_place){.how = (uint8_t)how, .reg = (uint8_t)reg, .off = off};
}

static struct bobbin_place unpack_fp(uint64_t word)
{
	switch (get(word, fp_form)) {
	case FP_CFA_MEM:
		return place(BOBBIN_HOW_IN_CFA_MEM, 0, get_off(word, fp_off));
	case FP_AT_CFA:
		return place(BOBBIN_HOW_AT_CFA, 0, get_off(word, fp_off));
	case FP_REG:
		return place(BOBBIN_HOW_AT_REG, get(word, fp_reg), get_off(word, fp_reg_off));
	case FP_REG_MEM:
		return place(BOBBIN_HOW_IN_REG_MEM, get(word, fp_reg), get_off(word, fp_reg_off));
	default:
		return place(BOBBIN_HOW_SAME, 0, 0);
	}
}

static struct bobbin_place unpack_ra(uint64_t word)
{
	switch (get(word, ra_form)) {
	case RA_SAME:
		return place(BOBBIN_HOW_SAME, 0, 0);
	case RA_CFA_MEM:
	case RA_CFA_MEM_SWITCH:
		return place(BOBBIN_HOW_IN_CFA_MEM, 0, get_off(word, ra_off));
	case RA_REG:
		return place(BOBBIN_HOW_AT_REG, get(word, ra_reg), get_off(word, ra_reg_off));
	case RA_REG_MEM:
		return place(BOBBIN_HOW_IN_REG_MEM, get(word, ra_reg), get_off(word, ra_reg_off));
	case RA_NEXT_TO_FP:
		return place(BOBBIN_HOW_IN_CFA_MEM, 0, get_off(word, fp_off) + 8);
	case RA_PC:
		return place(BOBBIN_HOW_AT_PC, 0, (int32_t)get_signed(word, ra_pc_off));
	default:
		return place(BOBBIN_HOW_UNDEFINED, 0, 0);
	}
}

/* Words may come from foreign tables, and callers use the reason as an index. */
static enum bobbin_reason unpack_reason(uint64_t word)
{
	uint64_t reason = word >> 2 & 0xff;

	return reason && reason < BOBBIN_REASON_COUNT ? (enum bobbin_reason)reason
						      : BOBBIN_REASON_BAD_RULE;
}

BOBBIN_API void bobbin_rule_unpack(uint64_t word, struct bobbin_rule *ret)
{
	*ret = bobbin_rule_none(BOBBIN_REASON_NONE);
	if (get(word, cfa_form) == CFA_NONE) {
		ret->reason = (uint8_t)unpack_reason(word);
		return;
	}
	ret->flags = (uint8_t)get(word, flags_field);
	if (get(word, ra_form) == RA_CFA_MEM_SWITCH)
		ret->flags |= BOBBIN_RULE_SWITCH;
	unpack_cfa(word, ret);
	ret->ra = unpack_ra(word);
	ret->fp = unpack_fp(word);
}

static bool place_equal(const struct bobbin_place *a, const struct bobbin_place *b)
{
	return a->how == b->how && a->reg == b->reg && a->off == b->off;
}

BOBBIN_API bool bobbin_rule_equal(const struct bobbin_rule *a, const struct bobbin_rule *b)
{
	return place_equal(&a->cfa, &b->cfa) && place_equal(&a->ra, &b->ra) &&
	       place_equal(&a->fp, &b->fp) && a->plus == b->plus && a->index == b->index &&
	       a->flags == b->flags && a->reason == b->reason;
}
