/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of <bobbin/backtrace.h> over the loaded objects instead of the code map: with this, the
 * tests of one walker are those of the other.
 */
#include <bobbin/backtrace.h>

#include "unwind/assembly.h"
#include "unwind/object_walk.h"

int bobbin_backtrace_prepare(void)
{
	object_walk_prepare();
	return 0;
}

static BOBBIN_ALWAYS_INLINE void walk_here(struct bobbin_trace *trace)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct walk_place place = {0};
	struct bobbin_regs caller = here_caller();

	here_regs(gpr, &place.regs);
	bobbin_object_walk(&place, &caller, trace);
}

void bobbin_backtrace(const struct bobbin_regs *regs, struct bobbin_trace *trace)
{
	struct walk_place place = {0};

	if (!regs) {
		walk_here(trace);
		return;
	}
	place.regs = *regs;
	bobbin_object_walk(&place, NULL, trace);
}

void bobbin_backtrace_here(struct bobbin_trace *trace)
{
	walk_here(trace);
}
