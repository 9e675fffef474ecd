/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_step.h - a step by what call-frame information says itself, without a rule.
 *
 * A rule is a few numbers.  What it cannot hold, as an expression of DWARF or where another
 * register was saved, is worked out from the table again.  Few rows need it.
 */
#ifndef BOBBIN_CORE_TABLE_STEP_H
#define BOBBIN_CORE_TABLE_STEP_H

#include <bobbin/step.h>

/**
 * struct table_step - one step
 * @arch: of the code; its frame pointer may be any register, of which the caller's value is
 *	wanted.  Then the real one is among @regs.gpr
 * @regs: in: a frame; out: its caller, or undefined
 * @bias: from addresses of the table to those of the process
 * @operations: in, out: how much work all expressions of a walk may still be
 * @missing: NO_REGISTER: a bit for each register that was needed and is not known
 */
struct table_step {
	const struct bobbin_arch *arch;
	struct bobbin_regs regs;
	uint64_t bias;
	uint32_t *operations;
	uint32_t missing;
};

#endif
