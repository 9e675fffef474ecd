/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/rule_spelling.h"

#include <stdio.h>
#include <string.h>

#define PLACE_MAX 40

static void spell_register(const struct bobbin_arch *arch, uint8_t reg, char ret[static 8])
{
	if (reg == arch->sp || reg == arch->fp)
		strcpy(ret, reg == arch->sp ? "sp" : "fp");
	else
		snprintf(ret, 8, "r%u", reg);
}

static void spell_place(const struct bobbin_arch *arch, const struct bobbin_place *place,
			char ret[static PLACE_MAX])
{
	char reg[8];

	spell_register(arch, place->reg, reg);
	switch (place->how) {
	case BOBBIN_UNDEFINED:
		strcpy(ret, "end");
		break;
	case BOBBIN_IN_CFA_MEM:
		snprintf(ret, PLACE_MAX, "c%+d", place->off);
		break;
	case BOBBIN_AT_CFA:
		snprintf(ret, PLACE_MAX, "=c%+d", place->off);
		break;
	case BOBBIN_AT_REG:
		snprintf(ret, PLACE_MAX, "%s%+d", reg, place->off);
		break;
	case BOBBIN_IN_REG_MEM:
		snprintf(ret, PLACE_MAX, "(%s%+d)", reg, place->off);
		break;
	default:
		strcpy(ret, "u");
	}
}

static void spell_cfa(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		      char ret[static 2 * PLACE_MAX])
{
	char place[PLACE_MAX], index[8];

	spell_place(arch, &rule->cfa, place);
	if (rule->index == BOBBIN_NO_INDEX) {
		strcpy(ret, place);
	} else {
		spell_register(arch, rule->index, index);
		place[strlen(place) - 1] = '\0';
		snprintf(ret, 2 * PLACE_MAX, "%s+8*%s)", place, index);
	}
	if (rule->plus)
		snprintf(ret + strlen(ret), 12, "%+d", rule->plus);
}

void rule_spell(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		char ret[static RULE_SPELLING_MAX])
{
	char cfa[2 * PLACE_MAX], ra[PLACE_MAX], fp[PLACE_MAX];

	if (rule->cfa.how == BOBBIN_NO_RULE) {
		snprintf(ret, RULE_SPELLING_MAX, "none (%s)",
			 bobbin_reason_str((enum bobbin_reason)rule->reason));
		return;
	}
	spell_cfa(arch, rule, cfa);
	spell_place(arch, &rule->ra, ra);
	spell_place(arch, &rule->fp, fp);
	snprintf(ret, RULE_SPELLING_MAX, "CFA=%s RA=%s FP=%s%s%s", cfa, ra, fp,
		 rule->flags & BOBBIN_RULE_MANGLED
			 ? rule->flags & BOBBIN_RULE_KEY_B ? " key B" : " key A"
			 : "",
		 rule->flags & BOBBIN_RULE_SIGNAL ? " signal" : "");
}
