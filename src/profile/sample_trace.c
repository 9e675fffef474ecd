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
 * Who has just called the kernel had a stack.  If nothing is there any more, it is since
 * execve or exit has given the memory back.  Elsewhere the kernel may be about to bring in
 * the page.
 */
static enum bobbin_reason why_no_copy(const struct bobbin_arch *arch, enum bobbin_reason reason,
				      const struct bobbin_regs *regs)
{
	if (reason != BOBBIN_STACK_END && reason != BOBBIN_NO_MEMORY)
		return reason;
	return in_system_call(arch, regs) ? BOBBIN_NEW_SPACE : BOBBIN_NO_COPY;
}

void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace)
{
	struct bobbin_stack_copy stack = {
		.data = sample->stack,
		.size = sample->dyn_size,
		.whole = sample->dyn_size && sample->dyn_size < sample->stack_size,
	};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &stack};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	trace->left_out = 0;
	if (sample_regs(arch, sample, gpr, &regs)) {
		stack.addr = regs.sp;
		bobbin_unwind(unwinder, process->space, &regs, &mem, trace);
		if (!stack.size && trace->reason != BOBBIN_OUTERMOST)
			trace->reason = why_no_copy(arch, trace->reason, &regs);
		if (trace->reason == BOBBIN_OTHER_STACK)
			chain_join(unwinder, process->space, sample, trace);
		if (!process_is_stale(process, trace))
			return;
	}
	trace->count = 0;
	trace->reason = BOBBIN_NO_USER;
	if (sample_pc_32(arch, sample, &regs.pc)) {
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = regs.pc, .exact = true};
		trace->reason = BOBBIN_ABI_32;
	}
}
