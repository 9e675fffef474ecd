/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * default_rule.h - what the rows of ordinary functions mean.
 *
 * Inlined into bobbin_sframe_rule() and into lookups, so that the rule is built in
 * registers and stored once.  Otherwise lookups spend a third of their time here.
 */
#ifndef BOBBIN_SFRAME_DEFAULT_RULE_H
#define BOBBIN_SFRAME_DEFAULT_RULE_H

#include "sframe/layout.h"

static BOBBIN_ALWAYS_INLINE bool sframe_is_s390x(const struct bobbin_sframe_view *view)
{
	return sframe_arch(view)->elf_machine == SFRAME_EM_S390;
}

/* Words of a row with all values that the header does not fix. */
static BOBBIN_ALWAYS_INLINE unsigned int sframe_most_words(const struct bobbin_sframe_view *view)
{
	return 1 + !view->fixed_ra + !view->fixed_fp;
}

static BOBBIN_ALWAYS_INLINE uint8_t sframe_rule_flags(const struct bobbin_sframe_view *view,
						      const struct bobbin_sframe_fde *fde,
						      uint8_t info)
{
	uint8_t flags = fde->signal ? BOBBIN_RULE_SIGNAL : 0;

	if (sframe_arch(view)->pac_mask && info & SFRAME_FRE_MANGLED)
		flags |= fde->key_b ? BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B : BOBBIN_RULE_MANGLED;
	return flags;
}

/* In its fixed slot, or else in the slot that the row gives, or unchanged. */
static BOBBIN_ALWAYS_INLINE struct bobbin_place sframe_default_place(int8_t fixed, bool given,
								     int32_t off)
{
	if (fixed)
		return (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = fixed};
	return (struct bobbin_place){.how = given ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME,
				     .off = off};
}

/**
 * sframe_default_rule() - the rule of a row of an ordinary function
 * @view: a checked section, not of s390x
 * @fde: the row's function, not flexible
 * @info: of the row, with one to sframe_most_words() words
 * @first, @second, @third: its words, 0 where there is none
 * @ret: the rule, stored field by field: a copy as a whole would wait for the
 *	fields
 *
 * The order is CFA, return address unless fixed, frame pointer unless fixed.
 */
static BOBBIN_ALWAYS_INLINE void sframe_default_rule(const struct bobbin_sframe_view *view,
						     const struct bobbin_sframe_fde *fde,
						     uint8_t info, int32_t first, int32_t second,
						     int32_t third, struct bobbin_rule *ret)
{
	unsigned int num = SFRAME_FRE_NUM_WORDS(info), fp_at = 1 + !view->fixed_ra;
	const struct bobbin_place ra = sframe_default_place(view->fixed_ra, num > 1, second);
	const struct bobbin_place fp = sframe_default_place(view->fixed_fp, num > fp_at,
							    view->fixed_ra ? second : third);
	uint8_t reg = info & SFRAME_FRE_BASE_SP ? sframe_arch(view)->sp : sframe_arch(view)->fp;
	uint8_t flags = sframe_rule_flags(view, fde, info);

	ret->cfa.off = first;
	ret->cfa.how = BOBBIN_HOW_AT_REG;
	ret->cfa.reg = reg;
	ret->ra = ra;
	ret->fp = fp;
	ret->plus = 0;
	ret->index = BOBBIN_NO_INDEX;
	ret->flags = flags;
	ret->reason = BOBBIN_REASON_NONE;
}

#endif
