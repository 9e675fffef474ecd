/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_regs.h - user registers as perf numbers them, and as DWARF does.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_REGS_H
#define BOBBIN_PROFILE_SAMPLE_REGS_H

#include <bobbin/step.h>

#include "profile/perf_event.h"

/* The mask to ask the kernel for: all that a rule may name. */
uint64_t sample_regs_mask(const struct bobbin_arch *arch);

/*
 * The leaf's registers; they borrow @gpr.  false: the sample has none that
 * could be unwound (a kernel thread, a 32-bit program).
 */
bool sample_regs(const struct bobbin_arch *arch, const struct perf_sample *sample,
		 uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret);

/* The PC of a 32-bit program; false: the sample is not of one. */
bool sample_pc_32(const struct bobbin_arch *arch, const struct perf_sample *sample, uint64_t *ret);

#endif
