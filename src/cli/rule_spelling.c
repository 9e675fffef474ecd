/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/rule_spelling.h"

#include <stdio.h>
#include <string.h>

void register_spell(const struct bobbin_arch *arch, uint8_t reg,
		    char ret[static PLACE_SPELLING_MAX])
{
	if (reg == arch->sp || reg == arch->fp)
		strcpy(ret, reg == arch->sp ? "sp" : "fp");
	else
		snprintf(ret, PLACE_SPELLING_MAX, "r%u", reg);
}

void place_spell(const struct bobbin_arch *arch, const struct bobbin_place *place,
		 char ret[static PLACE_SPELLING_MAX])
{
	char reg[PLACE_SPELLING_MAX];

	register_spell(arch, place->reg, reg);
	switch (place->how) {
	case BOBBIN_HOW_UNDEFINED:
		strcpy(ret, "end");
		break;
	case BOBBIN_HOW_IN_CFA_MEM:
		snprintf(ret, PLACE_SPELLING_MAX, "c%+d", place->off);
		break;
	case BOBBIN_HOW_AT_CFA:
		snprintf(ret, PLACE_SPELLING_MAX, "=c%+d", place->off);
		break;
	case BOBBIN_HOW_AT_REG:
		snprintf(ret, PLACE_SPELLING_MAX, "%.4s%+d", reg, place->off);
		break;
	case BOBBIN_HOW_IN_REG_MEM:
		snprintf(ret, PLACE_SPELLING_MAX, "(%.4s%+d)", reg, place->off);
		break;
	default:
		strcpy(ret, "u");
	}
}

static void spell_cfa(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		      char ret[static 2 * PLACE_SPELLING_MAX])
{
	char place[PLACE_SPELLING_MAX], index[PLACE_SPELLING_MAX];

	place_spell(arch, &rule->cfa, place);
	if (rule->index == BOBBIN_NO_INDEX) {
		strcpy(ret, place);
	} else {
		register_spell(arch, rule->index, index);
		place[strlen(place) - 1] = '\0';
		snprintf(ret, 2 * PLACE_SPELLING_MAX, "%s+8*%s)", place, index);
	}
	if (rule->plus)
		snprintf(ret + strlen(ret), 12, "%+d", rule->plus);
}

void rule_spell(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		char ret[static RULE_SPELLING_MAX])
{
	char cfa[2 * PLACE_SPELLING_MAX], ra[PLACE_SPELLING_MAX], fp[PLACE_SPELLING_MAX];

	if (rule->cfa.how == BOBBIN_HOW_NO_RULE) {
		snprintf(ret, RULE_SPELLING_MAX, "none (%s)",
			 bobbin_reason_str((enum bobbin_reason)rule->reason));
		return;
	}
	spell_cfa(arch, rule, cfa);
	place_spell(arch, &rule->ra, ra);
	place_spell(arch, &rule->fp, fp);
	snprintf(ret, RULE_SPELLING_MAX, "CFA=%s RA=%s FP=%s%s%s", cfa, ra, fp,
		 rule->flags & BOBBIN_RULE_MANGLED
			 ? rule->flags & BOBBIN_RULE_KEY_B ? " key B" : " key A"
			 : "",
		 rule->flags & BOBBIN_RULE_SIGNAL ? " signal" : "");
}
