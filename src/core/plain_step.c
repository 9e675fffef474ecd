/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/plain_step.h"

static uint64_t word_of(const struct bobbin_arch *arch, uint8_t reg, int32_t off,
			struct bobbin_place fp)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = reg, .off = off},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = arch->default_ra_off},
		.fp = fp,
		.index = BOBBIN_NO_INDEX,
	};
	uint64_t word;

	return bobbin_rule_pack(&rule, &word) ? 0 : word;
}

void plain_forms_of(const struct bobbin_arch *arch, struct plain_forms *ret)
{
	const struct bobbin_place same = {.how = BOBBIN_HOW_SAME};
	const struct bobbin_place saved = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -16};

	*ret = (struct plain_forms){0};
	if (arch->default_ra_off != PLAIN_RA_OFF || arch->cfa_bias ||
	    arch->big_endian != BOBBIN_HOST_BIG_ENDIAN)
		return;
	*ret = (struct plain_forms){
		.from_sp = word_of(arch, arch->sp, 0, same),
		.from_fp = word_of(arch, arch->fp, 0, same),
		.record = word_of(arch, arch->fp, 16, saved),
	};
}
