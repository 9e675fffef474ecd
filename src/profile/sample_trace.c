/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_trace.h"

#include "profile/chain_join.h"
#include "profile/sample_regs.h"

/* x86-64's DWARF numbers */
#define RAX 0
#define RCX 2
#define ENOSYS_RESULT ((uint64_t)-38)

/*
 * Whether x86-64's registers are those of a thread in a system call: the instruction
 * leaves the return address in RCX, and Linux an error in RAX until there is a result.
 */
static bool in_system_call(const struct bobbin_arch *arch, const struct bobbin_regs *regs)
{
	const uint32_t both = 1u << RAX | 1u << RCX;

	return arch == bobbin_arch_amd64() && (regs->gpr_known & both) == both &&
	       regs->gpr[RCX] == regs->pc && regs->gpr[RAX] == ENOSYS_RESULT;
}

/*
 * The kernel stops to copy where it would have to wait for a page, before the limit that it
 * was given.  Who has just called it had a stack: if nothing is there any more, it is since
 * execve or exit has given the memory back.
 */
static enum bobbin_reason why_copy_ends(const struct bobbin_arch *arch,
					const struct perf_sample *sample,
					const struct bobbin_regs *regs)
{
	if (sample->dyn_size >= sample->stack_size)
		return BOBBIN_REASON_STACK_END;
	return !sample->dyn_size && in_system_call(arch, regs) ? BOBBIN_REASON_NEW_SPACE
							       : BOBBIN_REASON_STACK_HOLE;
}

void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace)
{
	struct bobbin_stack_copy stack = {
		.data = sample->stack,
		.size = sample->dyn_size,
	};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &stack};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	trace->left_out = 0;
	if (sample_regs(arch, sample, gpr, &regs)) {
		stack.addr = regs.sp;
		bobbin_unwind(unwinder, process->space, &regs, &mem, trace);
		if (trace->reason == BOBBIN_REASON_STACK_END ||
		    (!stack.size && trace->reason == BOBBIN_REASON_NO_MEMORY))
			trace->reason = why_copy_ends(arch, sample, &regs);
		if (trace->reason == BOBBIN_REASON_OTHER_STACK ||
		    trace->reason == BOBBIN_REASON_STACK_END ||
		    trace->reason == BOBBIN_REASON_STACK_HOLE)
			chain_join(unwinder, process->space, sample, trace);
		process_has_run(process, trace);
		if (!process->in_exec)
			return;
	}
	trace->count = 0;
	trace->reason = BOBBIN_REASON_NO_USER;
	if (sample_pc_32(arch, sample, &regs.pc)) {
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = regs.pc, .exact = true};
		trace->reason = BOBBIN_REASON_ABI_32;
	}
}
