/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sframe/fre_encode.h"

#include "sframe/built_function.h"

static void start(struct fre_words *w)
{
	w->info = 0;
	w->count = 0;
	w->need = 0;
}

/* A signed word: its magnitude and the sign. */
static void push(struct fre_words *w, int32_t word)
{
	w->need |= (uint32_t)(word ^ (word >> 31)) << 1;
	w->words[w->count++] = word;
}

/* A control word is unsigned. */
static void push_pair(struct fre_words *w, uint32_t control, int32_t off)
{
	w->need |= control;
	w->words[w->count++] = (int32_t)control;
	push(w, off);
}

/* "s390x": (offset - 160) / 8, and nothing that does not divide. */
static bool scale_cfa(const struct bobbin_arch *arch, int32_t off, int32_t *ret)
{
	if (!is_sframe_s390x(arch)) {
		*ret = off;
		return true;
	}
	if (off % SFRAME_S390X_CFA_SCALE || __builtin_sub_overflow(off, SFRAME_S390X_CFA_BIAS, ret))
		return false;
	*ret /= SFRAME_S390X_CFA_SCALE;
	return true;
}

static bool common_sense(const struct bobbin_arch *arch, const struct bobbin_rule *rule)
{
	if (rule->plus || rule->index != BOBBIN_NO_INDEX)
		return false;
	if (rule->flags & BOBBIN_RULE_MANGLED && !arch->pac_mask)
		return false;
	/* a return address that calls push is in no register */
	return rule->ra.how != BOBBIN_HOW_SAME || !arch->default_ra_off;
}

/* A register's slot.  On s390x before V3 odd numbers mean registers. */
static bool default_slot(const struct bobbin_arch *arch, unsigned int version,
			 const struct bobbin_place *place, int32_t *ret)
{
	bool odd_is_register = is_sframe_s390x(arch) && version < 3;

	if (place->how == BOBBIN_HOW_AT_REG && odd_is_register && !place->off) {
		*ret = place->reg * 2 + 1;
		return true;
	}
	*ret = place->off;
	return place->how == BOBBIN_HOW_IN_CFA_MEM && !(odd_is_register && place->off & 1);
}

static bool default_ra(const struct bobbin_arch *arch, unsigned int version,
		       const struct bobbin_rule *rule, struct fre_words *w)
{
	bool fp_follows = rule->fp.how != BOBBIN_HOW_SAME;
	int32_t word;

	if (arch->default_ra_off)
		return rule->ra.how == BOBBIN_HOW_IN_CFA_MEM &&
		       rule->ra.off == arch->default_ra_off;
	if (rule->ra.how == BOBBIN_HOW_SAME) {
		/* only s390x can pad for a frame pointer without it */
		if (fp_follows && !is_sframe_s390x(arch))
			return false;
		if (fp_follows)
			push(w, 0);
		return true;
	}
	if (!default_slot(arch, version, &rule->ra, &word) || (!word && is_sframe_s390x(arch)))
		return false;
	push(w, word);
	return true;
}

static bool default_words(const struct bobbin_arch *arch, unsigned int version,
			  const struct bobbin_rule *rule, struct fre_words *ret)
{
	int32_t word;

	start(ret);
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return true;
	if (!common_sense(arch, rule) || rule->cfa.how != BOBBIN_HOW_AT_REG ||
	    (rule->cfa.reg != arch->sp && rule->cfa.reg != arch->fp) ||
	    !scale_cfa(arch, rule->cfa.off, &word))
		return false;
	if (rule->cfa.reg == arch->sp)
		ret->info |= SFRAME_FRE_BASE_SP;
	if (rule->flags & BOBBIN_RULE_MANGLED)
		ret->info |= SFRAME_FRE_MANGLED;
	push(ret, word);
	if (!default_ra(arch, version, rule, ret))
		return false;
	if (rule->fp.how == BOBBIN_HOW_SAME)
		return true;
	if (!default_slot(arch, version, &rule->fp, &word))
		return false;
	push(ret, word);
	return true;
}

/* A control word and an offset; control word 0 means something else. */
static bool flex_place(const struct bobbin_arch *arch, const struct bobbin_place *place,
		       struct fre_words *w)
{
	uint32_t pc = (uint32_t)arch->pc << SFRAME_FLEX_REG_SHIFT;
	uint32_t reg = (uint32_t)place->reg << SFRAME_FLEX_REG_SHIFT;

	switch (place->how) {
	case BOBBIN_HOW_AT_REG:
		push_pair(w, reg | SFRAME_FLEX_REG, place->off);
		return true;
	case BOBBIN_HOW_AT_PC:
		push_pair(w, pc | SFRAME_FLEX_REG, place->off);
		return true;
	case BOBBIN_HOW_IN_REG_MEM:
		push_pair(w, reg | SFRAME_FLEX_REG | SFRAME_FLEX_DEREF, place->off);
		return true;
	case BOBBIN_HOW_IN_CFA_MEM:
		push_pair(w, SFRAME_FLEX_DEREF, place->off);
		return true;
	default:
		return false;
	}
}

static bool ra_is_default(const struct bobbin_arch *arch, const struct bobbin_place *ra)
{
	if (!arch->default_ra_off)
		return ra->how == BOBBIN_HOW_SAME;
	return ra->how == BOBBIN_HOW_IN_CFA_MEM && ra->off == arch->default_ra_off;
}

static bool flex_words(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		       struct fre_words *ret)
{
	struct bobbin_place cfa = rule->cfa;

	start(ret);
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return true;
	if (!common_sense(arch, rule) ||
	    (cfa.how != BOBBIN_HOW_AT_REG && cfa.how != BOBBIN_HOW_IN_REG_MEM) ||
	    !scale_cfa(arch, cfa.off, &cfa.off) || !flex_place(arch, &cfa, ret))
		return false;
	if (rule->flags & BOBBIN_RULE_MANGLED)
		ret->info |= SFRAME_FRE_MANGLED;

	if (!ra_is_default(arch, &rule->ra)) {
		if (!flex_place(arch, &rule->ra, ret))
			return false;
	} else if (rule->fp.how != BOBBIN_HOW_SAME) {
		push(ret, 0);
	}
	return rule->fp.how == BOBBIN_HOW_SAME || flex_place(arch, &rule->fp, ret);
}

bool fre_words_of(const struct bobbin_arch *arch, unsigned int version, bool flex,
		  const struct bobbin_rule *rule, struct fre_words *ret)
{
	if (version < 3 && (flex || rule->flags & BOBBIN_RULE_SIGNAL))
		return false;
	return flex ? flex_words(arch, rule, ret) : default_words(arch, version, rule, ret);
}

unsigned int fre_words_put(const struct fre_words *words, bool big_endian, uint8_t *at)
{
	unsigned int shift = fre_words_shift(words);

	*at++ = (uint8_t)(words->info | words->count << 1 | shift << 5);
	for (unsigned int i = 0; i < words->count; i++)
		at = bytes_store(at, (uint32_t)words->words[i], 1u << shift, big_endian);
	return 1 + (words->count << shift);
}
