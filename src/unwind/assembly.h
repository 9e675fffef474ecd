/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * assembly.h - what C cannot say, for each architecture that walks its own stack.
 */
#ifndef BOBBIN_UNWIND_ASSEMBLY_H
#define BOBBIN_UNWIND_ASSEMBLY_H

#include "core/known_regs.h"

/*
 * raw_syscall(): a system call without the C library, which would set errno: a walk in a signal
 * handler must not be noticed by what it interrupted.  Returns what the kernel does: a negative
 * errno, or a result.
 *
 * here_regs(): of the function that this is inlined into, which must not return before the
 * walk; with the registers that functions preserve.
 *
 * here_caller(): of its caller; with a PC of 0 if only its table tells them.
 */
#if defined(__x86_64__)
static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return ret;
}

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
static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

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
static inline long raw_syscall(long number, long a, long b, long c, long d)
{
	register long r1 __asm__("r1") = number;
	register long r2 __asm__("r2") = a;
	register long r3 __asm__("r3") = b;
	register long r4 __asm__("r4") = c;
	register long r5 __asm__("r5") = d;

	__asm__ volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4), "d"(r5) : "memory");
	return r2;
}

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
#error "no assembly for this architecture"
#endif

#if !defined(__x86_64__)
static BOBBIN_ALWAYS_INLINE struct bobbin_regs here_caller(void)
{
	return (struct bobbin_regs){0};
}
#endif

#endif
