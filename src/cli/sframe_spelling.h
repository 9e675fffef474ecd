/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_spelling.h - rows of SFrame sections in few characters.
 *
 *	sp+16	the value of a register and an offset; r16-30 on x86-64: of the PC
 *	r17	the value of a register (version 2, s390x)
 *	(fp-8)	the value in memory there
 *	c-16	the value in memory at this offset from the CFA
 *	=c-16	the CFA and this offset, not loaded
 *	u	unchanged, the row says nothing
 *	f	in the slot that the header fixes, the row says nothing
 *	U	as u or f, and the row says so with a padding word
 *	[s]	after a return address: it is signed
 *
 * The spelling is objdump's, but for the sign of a negative offset, which stands
 * alone ("sp-8", not "sp+-8"), and for "=c", which objdump shows as "c".
 */
#ifndef BOBBIN_CLI_SFRAME_SPELLING_H
#define BOBBIN_CLI_SFRAME_SPELLING_H

#include <bobbin/sframe.h>

#include "core/rule_spelling.h"

struct sframe_spelling {
	char cfa[PLACE_SPELLING_MAX], fp[PLACE_SPELLING_MAX], ra[PLACE_SPELLING_MAX];
};

/* Of a row and the rule that bobbin_sframe_rule() made of it. */
struct sframe_spelling sframe_spell(const struct bobbin_sframe_view *view,
				    const struct bobbin_sframe_fde *fde,
				    const struct bobbin_sframe_fre *fre,
				    const struct bobbin_rule *rule);

/* A place as sections name it: the PC is a register with a number. */
struct bobbin_place sframe_named_place(const struct bobbin_sframe_view *view,
				       const struct bobbin_place *place);

#endif
