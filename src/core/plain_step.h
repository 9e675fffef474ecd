/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plain_step.h - the step of almost every frame, on the packed rule.
 *
 *	CFA = SP or FP + off;  RA in its default slot;  FP unchanged or at CFA + off
 *
 * Three in a thousand rows of a distribution are anything else.  frame_plain() in
 * unwind_frame.h applies these in a dozen instructions.
 *
 * The layout of the word is in rule.c.
 */
#ifndef BOBBIN_CORE_PLAIN_STEP_H
#define BOBBIN_CORE_PLAIN_STEP_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "core/deps.h"

#define PLAIN_CFA_OFF_SHIFT 16
#define PLAIN_CFA_OFF_BITS 20
#define PLAIN_CFA_OFF (((1ull << PLAIN_CFA_OFF_BITS) - 1) << PLAIN_CFA_OFF_SHIFT)
#define PLAIN_FP_OFF_SHIFT 48
#define PLAIN_FP_OFF (0xffffull << PLAIN_FP_OFF_SHIFT)
#define PLAIN_FP_SAVED (1ull << 13)
#define PLAIN_CFA_FORM 3ull
/* The default slot of the return address, from the CFA. */
#define PLAIN_RA_OFF (-8)
#define PLAIN_RA_FORM (7ull << 10)
#define PLAIN_RA_UNDEFINED (1ull << 10)
#define PLAIN_RA_SWITCH (7ull << 10)

/*
 * Words of plain rules less what varies, and the whole word of the rule for a
 * frame record: FP points to the caller's FP and return address.  0: the
 * architecture has none.
 */
struct plain_forms {
	uint64_t from_sp, from_fp, record;
};

/*
 * For architectures whose calls push the return address, and whose memory this
 * machine reads without turning bytes around.
 */
void plain_forms_of(const struct bobbin_arch *arch, struct plain_forms *ret);

/*
 * The CFA, if the word is plain.  Architectures with plain rules have neither a
 * bias nor signed addresses.
 */
static BOBBIN_ALWAYS_INLINE bool plain_cfa(const struct plain_forms *forms, uint64_t word,
					   uint64_t sp, uint64_t fp, uint64_t *ret)
{
	uint64_t form = word & ~(PLAIN_CFA_OFF | PLAIN_FP_OFF | PLAIN_FP_SAVED);
	int64_t off = (int64_t)(word << (64 - PLAIN_CFA_OFF_SHIFT - PLAIN_CFA_OFF_BITS)) >>
		      (64 - PLAIN_CFA_OFF_BITS);

	uint64_t base = sp;

	if (!form)
		return false;
	if (__builtin_expect(form != forms->from_sp, false)) {
		if (form != forms->from_fp)
			return false;
		base = fp;
	}
	*ret = base + (uint64_t)(off * 8);
	return true;
}

/* Whether the rule may lead to another stack. */
static BOBBIN_ALWAYS_INLINE bool plain_switches(uint64_t word)
{
	return (word & PLAIN_RA_FORM) == PLAIN_RA_SWITCH && word & PLAIN_CFA_FORM;
}

/* Whether the rule says that there is no caller. */
static BOBBIN_ALWAYS_INLINE bool plain_outermost(uint64_t word)
{
	return (word & PLAIN_RA_FORM) == PLAIN_RA_UNDEFINED && word & PLAIN_CFA_FORM;
}

/*
 * From the CFA to where FP was saved, PLAIN_RA_OFF where it was not; false: a plain rule saves
 * it above or in the return address's slot.
 */
static BOBBIN_ALWAYS_INLINE bool plain_fp(uint64_t word, int64_t *ret)
{
	int64_t off = ((int64_t)word >> PLAIN_FP_OFF_SHIFT) * 8;

	if (__builtin_expect(!(word & PLAIN_FP_SAVED), false))
		off = PLAIN_RA_OFF;
	else if (off >= PLAIN_RA_OFF)
		return false;
	*ret = off;
	return true;
}

#endif
