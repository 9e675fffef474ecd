/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rule_spelling.h - the parts of bobbin_rule_str(). */
#ifndef BOBBIN_CORE_RULE_SPELLING_H
#define BOBBIN_CORE_RULE_SPELLING_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

/* Room for a register, and for a place. */
#define PLACE_SPELLING_MAX 32

/* "sp", "fp" or "r7". */
void register_spell(const struct bobbin_arch *arch, uint8_t reg,
		    char ret[static PLACE_SPELLING_MAX]);

/* One of the places of bobbin_rule_str(). */
void place_spell(const struct bobbin_arch *arch, const struct bobbin_place *place,
		 char ret[static PLACE_SPELLING_MAX]);

#endif
