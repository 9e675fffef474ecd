/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/backtrace.h>
#include <ucontext.h>

#include "core/deps.h"

#if defined(__x86_64__)
/* psABI x86-64, figure 3.36 */
static const uint8_t greg_of_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					REG_R12, REG_R13, REG_R14, REG_R15};

BOBBIN_API void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *ret)
{
	const ucontext_t *context = ucontext;
	const greg_t *r = context->uc_mcontext.gregs;

	for (unsigned int i = 0; i < 16; i++)
		gpr[i] = (uint64_t)r[greg_of_dwarf[i]];
	*ret = (struct bobbin_regs){
		.pc = (uint64_t)r[REG_RIP],
		.sp = gpr[7],
		.fp = gpr[6],
		.gpr = gpr,
		.gpr_known = 0xffff,
		.exact = true,
	};
}
#elif defined(__aarch64__)
BOBBIN_API void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *ret)
{
	const ucontext_t *context = ucontext;

	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = context->uc_mcontext.regs[i];
	gpr[31] = context->uc_mcontext.sp;
	*ret = (struct bobbin_regs){
		.pc = context->uc_mcontext.pc,
		.sp = gpr[31],
		.fp = gpr[29],
		.ra = gpr[30],
		.gpr = gpr,
		.gpr_known = 0xffffffff,
		.exact = true,
		.ra_known = true,
	};
}
#elif defined(__s390x__)
/* Compilers park general registers in floating-point ones, DWARF 16 to 31. */
static const uint8_t dwarf_of_fpr[] = {16, 20, 17, 21, 18, 22, 19, 23,
				       24, 28, 25, 29, 26, 30, 27, 31};

BOBBIN_API void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *ret)
{
	const ucontext_t *context = ucontext;

	for (unsigned int i = 0; i < 16; i++) {
		gpr[i] = context->uc_mcontext.gregs[i];
		__builtin_memcpy(&gpr[dwarf_of_fpr[i]], &context->uc_mcontext.fpregs.fprs[i], 8);
	}
	*ret = (struct bobbin_regs){
		.pc = context->uc_mcontext.psw.addr,
		.sp = gpr[15],
		.fp = gpr[11],
		.ra = gpr[14],
		.gpr = gpr,
		.gpr_known = 0xffffffff,
		.exact = true,
		.ra_known = true,
	};
}
#else
#error "no registers for this architecture"
#endif
