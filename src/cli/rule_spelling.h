/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule_spelling.h - rules in few characters.
 *
 *	CFA=sp+16 RA=c-8 FP=u
 *
 *	sp+16		the value of a register and an offset
 *	(fp-8)		the value in memory there
 *	(sp+8+8*r9)+8	likewise, with an index, and moved
 *	c-16		the value in memory at this offset from the CFA
 *	=c-16		the CFA and this offset, not loaded
 *	u		unchanged
 *	end		there is no caller
 */
#ifndef BOBBIN_CLI_RULE_SPELLING_H
#define BOBBIN_CLI_RULE_SPELLING_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#define RULE_SPELLING_MAX 160

/* Room for a register, and for a place. */
#define PLACE_SPELLING_MAX 32

/* "sp", "fp" or "r7". */
void register_spell(const struct bobbin_arch *arch, uint8_t reg,
		    char ret[static PLACE_SPELLING_MAX]);

/* One of the places above. */
void place_spell(const struct bobbin_arch *arch, const struct bobbin_place *place,
		 char ret[static PLACE_SPELLING_MAX]);

/* A rule for the architecture; "none (…)" with the reason for one that is none. */
void rule_spell(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		char ret[static RULE_SPELLING_MAX]);

#endif
