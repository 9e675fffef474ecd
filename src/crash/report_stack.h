/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_stack.h - another stack for a function, for each architecture that walks its own stack.
 *
 * Programs give their handlers as little room as those need, and a report comes on top of them.
 */
#ifndef BOBBIN_CRASH_REPORT_STACK_H
#define BOBBIN_CRASH_REPORT_STACK_H

/*
 * report_stack_call(): call run(ctx) with the stack pointer at @top, which is aligned to 16 bytes and
 * has memory below it.  Nothing of the caller's stack is written meanwhile.  Async-signal-safe.
 */
#if defined(__x86_64__)
static inline void report_stack_call(void (*run)(void *), void *ctx, void *top)
{
	__asm__ volatile(
		"movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[run]\n\tmovq %%rbx, %%rsp"
		: "+D"(ctx), [run] "+r"(run), [top] "+r"(top)
		:
		: "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
		  "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		  "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}
#elif defined(__aarch64__)
static inline void report_stack_call(void (*run)(void *), void *ctx, void *top)
{
	register void *x0 __asm__("x0") = ctx;
	register void *x1 __asm__("x1") = top;
	register void (*x2)(void *) __asm__("x2") = run;

	/* of v8 to v15 functions preserve the lower halves, which is all that is used here */
	__asm__ volatile("mov x19, sp\n\tmov sp, x1\n\tblr x2\n\tmov sp, x19"
			 : "+r"(x0), "+r"(x1), "+r"(x2)
			 :
			 : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
			   "x14", "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4",
			   "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
			   "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
}
#elif defined(__s390x__)
/* What a caller leaves above its stack pointer for the registers of whom it calls. */
#define REGISTER_AREA 160

static inline void report_stack_call(void (*run)(void *), void *ctx, void *top)
{
	register void *r2 __asm__("r2") = ctx;
	register char *r3 __asm__("r3") = (char *)top - REGISTER_AREA;
	register void (*r4)(void *) __asm__("r4") = run;

	__asm__ volatile("lgr %%r8, %%r15\n\tlgr %%r15, %%r3\n\tbasr %%r14, %%r4\n\tlgr %%r15, %%r8"
			 : "+d"(r2), "+d"(r3), "+a"(r4)
			 :
			 : "r0", "r1", "r5", "r8", "r14", "f0", "f1", "f2", "f3", "f4", "f5", "f6",
			   "f7", "cc", "memory");
}
#else
#error "no stacks for this architecture"
#endif

#endif
