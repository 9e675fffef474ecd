/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/plain_step.h"

static uint64_t form_from(const struct bobbin_arch *arch, uint8_t reg)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_AT_REG, .reg = reg},
		.ra = {.how = BOBBIN_IN_CFA_MEM, .off = arch->default_ra_off},
		.fp = {.how = BOBBIN_SAME},
		.index = BOBBIN_NO_INDEX,
	};
	uint64_t word;

	return bobbin_rule_pack(&rule, &word) ? 0 : word;
}

struct plain_forms plain_forms_of(const struct bobbin_arch *arch)
{
	if (!arch->default_ra_off || arch->cfa_bias || arch->big_endian)
		return (struct plain_forms){0};
	return (struct plain_forms){form_from(arch, arch->sp), form_from(arch, arch->fp)};
}
