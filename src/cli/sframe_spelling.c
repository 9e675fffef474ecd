/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sframe_spelling.h"

#include <string.h>

/* What a row has words for. */
struct given {
	bool ra, ra_padding, fp;
};

/* A control word of 0 is padding. */
static struct given given_flex(const struct bobbin_sframe_fre *fre)
{
	unsigned int fp = fre->num_words > 2 && fre->words[2] ? 4 : 3;

	return (struct given){
		.ra = fre->num_words > 2 && fre->words[2],
		.ra_padding = fre->num_words > 2 && !fre->words[2],
		.fp = fre->num_words > fp && fre->words[fp],
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

/* Ordinary functions of s390x name a register that holds a value, and no offset. */
static void spell(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		  const struct bobbin_place *place, bool given, bool fixed,
		  char ret[static PLACE_SPELLING_MAX])
{
	if (!given)
		strcpy(ret, fixed ? "f" : "u");
	else if (place->how == BOBBIN_HOW_AT_REG && !fde->flex)
		register_spell(view->arch, place->reg, ret);
	else
		place_spell(view->arch, place, ret);
}

struct bobbin_place sframe_named_place(const struct bobbin_sframe_view *view,
				       const struct bobbin_place *place)
{
	struct bobbin_place ret = *place;

	if (ret.how == BOBBIN_HOW_AT_PC) {
		ret.how = BOBBIN_HOW_AT_REG;
		ret.reg = view->arch->pc;
	}
	return ret;
}

struct sframe_spelling sframe_spell(const struct bobbin_sframe_view *view,
				    const struct bobbin_sframe_fde *fde,
				    const struct bobbin_sframe_fre *fre,
				    const struct bobbin_rule *rule)
{
	struct given given = fde->flex ? given_flex(fre) : given_default(view, fre);
	const struct bobbin_place ra = sframe_named_place(view, &rule->ra);
	struct sframe_spelling ret;

	place_spell(view->arch, &rule->cfa, ret.cfa);
	spell(view, fde, &rule->fp, given.fp, view->fixed_fp, ret.fp);
	spell(view, fde, &ra, given.ra, view->fixed_ra, ret.ra);
	if (given.ra_padding)
		strcpy(ret.ra, "U");
	if (rule->flags & BOBBIN_RULE_MANGLED)
		strcat(ret.ra, "[s]");
	return ret;
}
