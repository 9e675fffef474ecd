/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/rule_spelling.h"

#include "core/deps.h"

/* A string that is being written; @end: where its terminator must stand at the latest. */
struct spelling {
	char *at, *end;
};

static void put_char(struct spelling *s, char c)
{
	if (s->at < s->end)
		*s->at++ = c;
	*s->at = 0;
}

static void put(struct spelling *s, const char *string)
{
	while (*string)
		put_char(s, *string++);
}

static void put_number(struct spelling *s, uint32_t number)
{
	char digits[10];
	unsigned int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		put_char(s, digits[--count]);
}

static void put_offset(struct spelling *s, int32_t off)
{
	put_char(s, off < 0 ? '-' : '+');
	put_number(s, off < 0 ? 0 - (uint32_t)off : (uint32_t)off);
}

static void put_register(struct spelling *s, const struct bobbin_arch *arch, uint8_t reg)
{
	if (reg == arch->sp || reg == arch->fp) {
		put(s, reg == arch->sp ? "sp" : "fp");
		return;
	}
	put_char(s, 'r');
	put_number(s, reg);
}

/* A register and an offset; @index: scaled by 8, or BOBBIN_NO_INDEX. */
static void put_sum(struct spelling *s, const struct bobbin_arch *arch,
		    const struct bobbin_place *place, uint8_t index)
{
	put_register(s, arch, place->reg);
	put_offset(s, place->off);
	if (index == BOBBIN_NO_INDEX)
		return;
	put(s, "+8*");
	put_register(s, arch, index);
}

/* @index: of a value in memory */
static void put_place(struct spelling *s, const struct bobbin_arch *arch,
		      const struct bobbin_place *place, uint8_t index)
{
	switch (place->how) {
	case BOBBIN_HOW_UNDEFINED:
		put(s, "end");
		break;
	case BOBBIN_HOW_IN_CFA_MEM:
	case BOBBIN_HOW_AT_CFA:
		put(s, place->how == BOBBIN_HOW_AT_CFA ? "=c" : "c");
		put_offset(s, place->off);
		break;
	case BOBBIN_HOW_AT_PC:
		put(s, "pc");
		put_offset(s, place->off);
		break;
	case BOBBIN_HOW_AT_REG:
		put_sum(s, arch, place, BOBBIN_NO_INDEX);
		break;
	case BOBBIN_HOW_IN_REG_MEM:
		put_char(s, '(');
		put_sum(s, arch, place, index);
		put_char(s, ')');
		break;
	default:
		put_char(s, 'u');
	}
}

void register_spell(const struct bobbin_arch *arch, uint8_t reg,
		    char ret[static PLACE_SPELLING_MAX])
{
	struct spelling s = {ret, ret + PLACE_SPELLING_MAX - 1};

	put_register(&s, arch, reg);
}

void place_spell(const struct bobbin_arch *arch, const struct bobbin_place *place,
		 char ret[static PLACE_SPELLING_MAX])
{
	struct spelling s = {ret, ret + PLACE_SPELLING_MAX - 1};

	put_place(&s, arch, place, BOBBIN_NO_INDEX);
}

static void put_rule(struct spelling *s, const struct bobbin_arch *arch,
		     const struct bobbin_rule *rule)
{
	put(s, "CFA=");
	put_place(s, arch, &rule->cfa, rule->index);
	if (rule->plus)
		put_offset(s, rule->plus);
	put(s, " RA=");
	put_place(s, arch, &rule->ra, BOBBIN_NO_INDEX);
	put(s, " FP=");
	put_place(s, arch, &rule->fp, BOBBIN_NO_INDEX);
	if (rule->flags & BOBBIN_RULE_MANGLED)
		put(s, rule->flags & BOBBIN_RULE_KEY_B ? " key B" : " key A");
	if (rule->flags & BOBBIN_RULE_SIGNAL)
		put(s, " signal");
}

BOBBIN_API void bobbin_rule_str(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
				char ret[BOBBIN_RULE_STR_MAX])
{
	struct spelling s = {ret, ret + BOBBIN_RULE_STR_MAX - 1};

	if (rule->cfa.how != BOBBIN_HOW_NO_RULE) {
		put_rule(&s, arch, rule);
		return;
	}
	put(&s, "none (");
	put(&s, bobbin_reason_str((enum bobbin_reason)rule->reason));
	put_char(&s, ')');
}
