/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * here_regs.h - the registers at this place.
 */
#ifndef BOBBIN_UNWIND_HERE_REGS_H
#define BOBBIN_UNWIND_HERE_REGS_H

#include <bobbin/step.h>

#include "core/deps.h"

/*
 * Of the function that this is inlined into, which must not return before the walk;
 * with the registers that functions preserve.
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
#elif defined(__aarch64__)
static BOBBIN_ALWAYS_INLINE void here_regs(uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	uint64_t pc, sp;

	/* x19 to x30 */
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\t"
			 "stp x19, x20, [%2, #152]\n\tstp x21, x22, [%2, #168]\n\t"
			 "stp x23, x24, [%2, #184]\n\tstp x25, x26, [%2, #200]\n\t"
			 "stp x27, x28, [%2, #216]\n\tstp x29, x30, [%2, #232]"
			 : "=&r"(pc), "=&r"(sp)
			 : "r"(gpr)
			 : "memory");
	*ret = (struct bobbin_regs){.pc = pc,
				    .sp = sp,
				    .fp = gpr[29],
				    .ra = gpr[30],
				    .gpr = gpr,
				    .gpr_known = 0x7ff80000,
				    .exact = true,
				    .ra_known = true};
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
	*ret = (struct bobbin_regs){.pc = pc,
				    .sp = gpr[15],
				    .fp = gpr[11],
				    .ra = gpr[14],
				    .gpr = gpr,
				    .gpr_known = 0xffc0,
				    .exact = true,
				    .ra_known = true};
}
#else
#error "no registers for this architecture"
#endif

#endif
