/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step.h - apply a rule: from a frame's registers to its caller's.
 *
 * This is the only code that knows what a rule means at run time.  Memory is
 * read through struct bobbin_mem, so one step serves the own process, another
 * process, a core file, a sample's copy of the stack and a kernel.
 */
#ifndef BOBBIN_STEP_H
#define BOBBIN_STEP_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct bobbin_mem - how to read a target's memory
 * @read: copy @len bytes at @addr to @dst and return BOBBIN_REASON_NONE; or return
 *	why not (BOBBIN_REASON_NO_MEMORY, BOBBIN_REASON_STACK_END), with @dst then undefined
 * @ctx: passed to @read
 *
 * The safety of a walk is the safety of @read.
 */
struct bobbin_mem {
	enum bobbin_reason (*read)(void *ctx, uint64_t addr, void *dst, size_t len);
	void *ctx;
};

/**
 * struct bobbin_regs - a frame's registers, as far as they are known
 * @pc: program counter, or return address into the frame's code
 * @sp: stack pointer
 * @fp: frame pointer
 * @ra: link register; valid if @ra_known
 * @gpr: all registers by DWARF number, borrowed; or NULL.  Known in the leaf
 *	and in the frame that a signal interrupted
 * @gpr_known: bit N: gpr[N] is valid
 * @exact: @pc is the next instruction to run, not a return address
 * @ra_known: @ra is valid
 */
struct bobbin_regs {
	uint64_t pc, sp, fp, ra;
	const uint64_t *gpr;
	uint32_t gpr_known;
	bool exact;
	bool ra_known;
};

/**
 * bobbin_regs_lookup_pc() - the address to look up in tables for a frame
 * @regs: the frame
 *
 * A call may be the last instruction of its function, so the return address
 * can lie after it: tables are asked for the byte before, except where the
 * PC is exact.
 *
 * Return: the address.  Safe in every context.
 */
static inline uint64_t bobbin_regs_lookup_pc(const struct bobbin_regs *regs)
{
	return regs->exact ? regs->pc : regs->pc - 1;
}

/**
 * bobbin_step() - replace a frame's registers by its caller's
 * @arch: the target's architecture
 * @rule: rule for the frame's PC, from any source, not trusted
 * @mem: reader for the target's memory
 * @regs: in: a frame; out: its caller, or untouched if there is none
 *
 * At most three reads of @mem.  The CFA must be aligned and move away from the
 * leaf: where the PC is exact it may equal the stack pointer, or lie below it if the rule
 * says so outright, and a signal
 * frame or a rule with BOBBIN_RULE_SWITCH may lead to another stack: who walks
 * bounds how often.  No allocation, lock or static data: callable from
 * signal handlers and any number of threads.  SFrame V3, "unwinding" chapter.
 *
 * Return: BOBBIN_REASON_NONE, or why there is no caller.
 */
enum bobbin_reason bobbin_step(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			       const struct bobbin_mem *mem, struct bobbin_regs *regs);

#ifdef __cplusplus
}
#endif

#endif
