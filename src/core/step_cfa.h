/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step_cfa.h - the first part of a step alone.
 */
#ifndef BOBBIN_CORE_STEP_CFA_H
#define BOBBIN_CORE_STEP_CFA_H

#include <bobbin/step.h>

/* The CFA of a frame as its rule says, unchecked; or why it is not known. */
enum bobbin_reason step_cfa(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			    const struct bobbin_mem *mem, const struct bobbin_regs *regs,
			    uint64_t *ret);

#endif
