/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_rule.c - what the data words of a row mean.
 *
 * A row gives the CFA, then the return address unless the header fixes its
 * slot, then the frame pointer likewise.  What a row does not give keeps its
 * default: the fixed slot, or unchanged.  Ordinary functions give offsets from
 * SP or FP, and from the CFA; flexible ones (V3) name registers.
 */
#include "sframe/default_rule.h"

/* "s390x": CFA words are scaled, in both kinds of functions. */
static bool unscale_cfa(const struct bobbin_sframe_view *view, int32_t word, int32_t *ret)
{
	if (!sframe_is_s390x(view)) {
		*ret = word;
		return true;
	}
	return !__builtin_mul_overflow(word, SFRAME_S390X_CFA_SCALE, ret) &&
	       !__builtin_add_overflow(*ret, SFRAME_S390X_CFA_BIAS, ret);
}

/*
 * The slot of a register, at a word's offset from the CFA.  s390x before V3
 * also writes register * 2 + 1 for "held in that register".
 */
static bool read_slot(const struct bobbin_sframe_view *view, int32_t word, struct bobbin_place *ret)
{
	uint32_t reg = (uint32_t)word >> 1;

	if (view->version >= 3 || !(word & 1)) {
		*ret = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = word};
		return true;
	}
	*ret = (struct bobbin_place){.how = BOBBIN_HOW_AT_REG, .reg = (uint8_t)reg};
	return reg < BOBBIN_REG_COUNT;
}

/* s390x pads with 0 when a row has a frame pointer to give but no return address. */
static bool read_s390x(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fre *fre,
		       struct bobbin_rule *rule)
{
	unsigned int i = 1;

	if (!unscale_cfa(view, fre->words[0], &rule->cfa.off))
		return false;
	if (!view->fixed_ra && i < fre->num_words) {
		int32_t word = fre->words[i++];

		rule->ra = (struct bobbin_place){.how = BOBBIN_HOW_SAME};
		if (word && !read_slot(view, word, &rule->ra))
			return false;
	}
	return i == fre->num_words || read_slot(view, fre->words[i], &rule->fp);
}

static bool read_default(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
			 const struct bobbin_sframe_fre *fre, struct bobbin_rule *rule)
{
	if (fre->num_words > sframe_most_words(view))
		return false;
	sframe_default_rule(view, fde, fre->info, fre->words[0], fre->words[1], fre->words[2],
			    rule);
	return !sframe_is_s390x(view) || read_s390x(view, fre, rule);
}

/* A control word and an offset; @cfa_how is what a value without register is. */
static bool read_pair(const int32_t *words, enum bobbin_how cfa_how, struct bobbin_place *ret)
{
	uint32_t control = (uint32_t)words[0], reg = control >> SFRAME_FLEX_REG_SHIFT;
	bool deref = control & SFRAME_FLEX_DEREF;

	if (control & SFRAME_FLEX_UNUSED || reg >= BOBBIN_REG_COUNT)
		return false;
	ret->off = words[1];
	if (control & SFRAME_FLEX_REG) {
		ret->how = deref ? BOBBIN_HOW_IN_REG_MEM : BOBBIN_HOW_AT_REG;
		ret->reg = (uint8_t)reg;
		return true;
	}
	ret->how = deref ? BOBBIN_HOW_IN_CFA_MEM : cfa_how;
	return ret->how != BOBBIN_HOW_NO_RULE;
}

static bool read_flex_cfa(const struct bobbin_sframe_view *view,
			  const struct bobbin_sframe_fre *fre, struct bobbin_rule *rule)
{
	if (fre->num_words < 2 || !(fre->words[0] & SFRAME_FLEX_REG))
		return false;
	return read_pair(fre->words, BOBBIN_HOW_NO_RULE, &rule->cfa) &&
	       unscale_cfa(view, rule->cfa.off, &rule->cfa.off);
}

/* A value that need not be given: at the end, or a word of padding in its place. */
static bool read_optional(const int32_t **word, const int32_t *end, enum bobbin_how cfa_how,
			  struct bobbin_place *ret)
{
	const int32_t *at = *word;

	if (at == end)
		return true;
	if (!*at) {
		*word = at + 1;
		return true;
	}
	*word = at + 2;
	return end - at >= 2 && read_pair(at, cfa_how, ret);
}

/* As read_optional(); what is relative to the PC names it by its DWARF number. */
static bool read_flex_ra(const struct bobbin_sframe_view *view, const int32_t **word,
			 const int32_t *end, struct bobbin_place *ret)
{
	const uint32_t pc = (uint32_t)sframe_arch(view)->pc << SFRAME_FLEX_REG_SHIFT |
			    SFRAME_FLEX_REG;
	const int32_t *at = *word;

	if (end - at < 2 || (uint32_t)at[0] != pc)
		/* CFA + off without a load is no code address */
		return read_optional(word, end, BOBBIN_HOW_NO_RULE, ret);
	*word = at + 2;
	*ret = (struct bobbin_place){.how = BOBBIN_HOW_AT_PC, .off = at[1]};
	return true;
}

/* What follows the values, of which there are @from words or all; by constants, for BPF. */
static bool words_are_padding(const struct bobbin_sframe_fre *fre, unsigned int from)
{
	for (unsigned int i = 4; i < sizeof(fre->words) / sizeof(*fre->words); i++)
		if (i >= from && i < fre->num_words && fre->words[i])
			return false;
	return true;
}

static bool read_flex(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fre *fre,
		      struct bobbin_rule *rule)
{
	const int32_t *word = fre->words + 2, *end = fre->words + fre->num_words;

	if (!read_flex_cfa(view, fre, rule) || !read_flex_ra(view, &word, end, &rule->ra) ||
	    !read_optional(&word, end, BOBBIN_HOW_AT_CFA, &rule->fp))
		return false;
	return words_are_padding(fre, (unsigned int)(word - fre->words));
}

/* No words: the return address is undefined (V2 erratum 2, V3). */
static bool read_outermost(const struct bobbin_sframe_view *view, struct bobbin_rule *rule)
{
	rule->cfa = (struct bobbin_place){.how = BOBBIN_HOW_AT_REG, .reg = sframe_arch(view)->sp};
	rule->ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
	rule->fp = (struct bobbin_place){.how = BOBBIN_HOW_SAME};
	rule->flags &= BOBBIN_RULE_SIGNAL;
	return true;
}

BOBBIN_API int bobbin_sframe_rule(const struct bobbin_sframe_view *view,
				  const struct bobbin_sframe_fde *fde,
				  const struct bobbin_sframe_fre *fre, struct bobbin_error *err,
				  struct bobbin_rule *ret)
{
	struct bobbin_rule rule = {
		.ra = sframe_default_place(view->fixed_ra, false, 0),
		.fp = sframe_default_place(view->fixed_fp, false, 0),
		.index = BOBBIN_NO_INDEX,
		.flags = sframe_rule_flags(view, fde, fre->info),
	};
	bool sane;

	if (!fre->num_words)
		sane = read_outermost(view, &rule);
	else if (fde->flex)
		sane = read_flex(view, fre, &rule);
	else
		sane = read_default(view, fde, fre, &rule);
	if (!sane)
		return refuse(err, fre->offset, BOBBIN_REASON_SFRAME_FRE);
	*ret = rule;
	return 0;
}
