/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * here_regs.h - the current values of the registers.
 */
#ifndef BOBBIN_UNWIND_HERE_REGS_H
#define BOBBIN_UNWIND_HERE_REGS_H

#include "core/known_regs.h"

/*
 * here_regs(): of the function that this is inlined into, which must not return before the
 * walk; with the registers that functions preserve.
 *
 * here_caller(): of its caller; with a PC of 0 if only its table tells them.
 */
#if defined(__x86_64__)
static BOBBIN_ALWAYS_INLINE void here_regs(uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	uint64_t pc;

	/* rbx, rbp, rsp, r12 to r15 */
	__asm__ volatile("leaq (%%rip), %0\n\t"
			 "movq %%rbx, 24(%1)\n\tmovq %%rbp, 48(%1)\n\tmovq %%rsp, 56(%1)\n\t"
			 "movq %%r12, 96(%1)\n\tmovq %%r13, 104(%1)\n\t"
			 "movq %%r14, 112(%1)\n\tmovq %%r15, 120(%1)"
			 : "=&r"(pc)
			 : "r"(gpr)
			 : "memory");
	*ret = (struct bobbin_regs){.pc = pc,
				    .sp = gpr[7],
				    .fp = gpr[6],
				    .gpr = gpr,
				    .gpr_known = 0xf0c8,
				    .exact = true};
}

static BOBBIN_ALWAYS_INLINE struct bobbin_regs here_caller(void)
{
	const uint64_t *record = __builtin_frame_address(0);

	return (struct bobbin_regs){
		.pc = record[1], .sp = (uint64_t)__builtin_dwarf_cfa(), .fp = record[0]};
}
#elif defined(__aarch64__)
static BOBBIN_ALWAYS_INLINE void here_regs(uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	uint64_t pc;

	/* x19 to x30, sp */
	__asm__ volatile("stp x19, x20, [%1, #152]\n\tstp x21, x22, [%1, #168]\n\t"
			 "stp x23, x24, [%1, #184]\n\tstp x25, x26, [%1, #200]\n\t"
			 "stp x27, x28, [%1, #216]\n\tstp x29, x30, [%1, #232]\n\t"
			 "mov %0, sp\n\tstr %0, [%1, #248]\n\tadr %0, ."
			 : "=&r"(pc)
			 : "r"(gpr)
			 : "memory");
	*ret = known_regs(bobbin_arch_aarch64(), pc, gpr, 0xfff80000);
}
#elif defined(__s390x__)
static BOBBIN_ALWAYS_INLINE void here_regs(uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	uint64_t pc;

	/* r6 to r15 */
	__asm__ volatile("larl %0, .\n\tstmg %%r6, %%r15, 48(%1)"
			 : "=&d"(pc)
			 : "a"(gpr)
			 : "memory");
	*ret = known_regs(bobbin_arch_s390x(), pc, gpr, 0xffc0);
}
#else
#error "no registers for this architecture"
#endif

#if !defined(__x86_64__)
static BOBBIN_ALWAYS_INLINE struct bobbin_regs here_caller(void)
{
	return (struct bobbin_regs){0};
}
#endif

#endif
