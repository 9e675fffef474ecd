/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/backtrace.h>
#include <ucontext.h>

#include "core/deps.h"
#include "core/known_regs.h"
#include "core/s390x_float_regs.h"

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
	*ret = known_regs(bobbin_arch_amd64(), (uint64_t)r[REG_RIP], gpr, 0xffff);
}
#elif defined(__aarch64__)
BOBBIN_API void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *ret)
{
	const ucontext_t *context = ucontext;

	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = context->uc_mcontext.regs[i];
	gpr[31] = context->uc_mcontext.sp;
	*ret = known_regs(bobbin_arch_aarch64(), context->uc_mcontext.pc, gpr, 0xffffffff);
}
#elif defined(__s390x__)
/* Compilers park general registers in floating-point ones. */
BOBBIN_API void bobbin_context_regs(const void *ucontext, uint64_t gpr[BOBBIN_REG_COUNT],
				    struct bobbin_regs *ret)
{
	const ucontext_t *context = ucontext;

	for (unsigned int i = 0; i < 16; i++) {
		gpr[i] = context->uc_mcontext.gregs[i];
		__builtin_memcpy(&gpr[s390x_float_dwarf(i)], &context->uc_mcontext.fpregs.fprs[i],
				 8);
	}
	*ret = known_regs(bobbin_arch_s390x(), context->uc_mcontext.psw.addr, gpr, 0xffffffff);
}
#else
#error "no registers for this architecture"
#endif
