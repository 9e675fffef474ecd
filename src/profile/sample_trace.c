/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_trace.h"

#include "profile/sample_regs.h"

void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace)
{
	struct bobbin_stack_copy stack = {
		.data = sample->stack,
		.size = sample->dyn_size,
		.whole = sample->dyn_size < sample->stack_size,
	};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &stack};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	if (sample_regs(arch, sample, gpr, &regs)) {
		stack.addr = regs.sp;
		bobbin_unwind(unwinder, process->space, &regs, &mem, trace);
		if (!process_is_stale(process, trace))
			return;
	}
	trace->count = 0;
	trace->reason = BOBBIN_NO_USER;
}
