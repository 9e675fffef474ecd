/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/rule_step.h"

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct bobbin_mem *mem = world;

	return mem->read(mem->ctx, addr, ret, sizeof(*ret));
}

BOBBIN_API enum bobbin_reason bobbin_step(const struct bobbin_arch *arch,
					  const struct bobbin_rule *rule,
					  const struct bobbin_mem *mem, struct bobbin_regs *regs)
{
	struct bobbin_mem world = *mem;

	return step_by_rule(&world, arch, rule, regs);
}
