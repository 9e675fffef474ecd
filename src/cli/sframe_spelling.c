/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sframe_spelling.h"

#include <stdio.h>
#include <string.h>

/* What a row has words for. */
struct given {
	bool ra, ra_padding, fp;
};

/* A control word of 0 in the place of the return address is padding. */
static struct given given_flex(const struct bobbin_sframe_fre *fre)
{
	return (struct given){
		.ra = fre->num_words > 2 && fre->words[2],
		.ra_padding = fre->num_words > 2 && !fre->words[2],
		.fp = fre->num_words > 4,
	};
}

/* So is an offset of 0 on s390x, the only ABI that pads. */
static struct given given_default(const struct bobbin_sframe_view *view,
				  const struct bobbin_sframe_fre *fre)
{
	unsigned int ra = view->fixed_ra ? 0 : 1;
	bool have_ra = ra && fre->num_words > 1;
	bool padding = have_ra && !fre->words[1] && !strcmp(view->arch->name, "s390x");

	return (struct given){
		.ra = have_ra && !padding,
		.ra_padding = padding,
		.fp = fre->num_words > 1 + ra,
	};
}

void sframe_spell_register(const struct bobbin_sframe_view *view, uint8_t reg,
			   char ret[static SFRAME_SPELLING_MAX])
{
	if (reg == view->arch->sp || reg == view->arch->fp)
		strcpy(ret, reg == view->arch->sp ? "sp" : "fp");
	else
		snprintf(ret, SFRAME_SPELLING_MAX, "r%u", reg);
}

static void spell_place(const struct bobbin_sframe_view *view, const struct bobbin_place *place,
			char ret[static SFRAME_SPELLING_MAX])
{
	char reg[SFRAME_SPELLING_MAX];

	sframe_spell_register(view, place->reg, reg);
	switch (place->how) {
	case BOBBIN_IN_CFA_MEM:
		snprintf(ret, SFRAME_SPELLING_MAX, "c%+d", place->off);
		break;
	case BOBBIN_AT_CFA:
		snprintf(ret, SFRAME_SPELLING_MAX, "=c%+d", place->off);
		break;
	case BOBBIN_AT_REG:
		snprintf(ret, SFRAME_SPELLING_MAX, "%.4s%+d", reg, place->off);
		break;
	case BOBBIN_IN_REG_MEM:
		snprintf(ret, SFRAME_SPELLING_MAX, "(%.4s%+d)", reg, place->off);
		break;
	default:
		strcpy(ret, "u");
	}
}

/* Ordinary functions of s390x name a register that holds a value, and no offset. */
static void spell(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		  const struct bobbin_place *place, bool given, bool fixed,
		  char ret[static SFRAME_SPELLING_MAX])
{
	if (!given)
		strcpy(ret, fixed ? "f" : "u");
	else if (place->how == BOBBIN_AT_REG && !fde->flex)
		sframe_spell_register(view, place->reg, ret);
	else
		spell_place(view, place, ret);
}

struct sframe_spelling sframe_spell(const struct bobbin_sframe_view *view,
				    const struct bobbin_sframe_fde *fde,
				    const struct bobbin_sframe_fre *fre,
				    const struct bobbin_rule *rule)
{
	struct given given = fde->flex ? given_flex(fre) : given_default(view, fre);
	struct sframe_spelling ret;

	spell_place(view, &rule->cfa, ret.cfa);
	spell(view, fde, &rule->fp, given.fp, view->fixed_fp, ret.fp);
	spell(view, fde, &rule->ra, given.ra, view->fixed_ra, ret.ra);
	if (given.ra_padding)
		strcpy(ret.ra, "U");
	if (rule->flags & BOBBIN_RULE_MANGLED)
		strcat(ret.ra, "[s]");
	return ret;
}
