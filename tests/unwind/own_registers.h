/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_registers.h - the registers of interrupted code, on each architecture.
 *
 * interrupted() fills in all registers by DWARF number.  CALLEE_SAVED names two
 * for an asm statement to clobber, so that a leaf function has something to
 * save; on s390x compilers park these in floating-point registers.
 */
#ifndef OWN_REGISTERS_H
#define OWN_REGISTERS_H

#include <ucontext.h>

#include <bobbin/step.h>

#if defined(__x86_64__)

#define CALLEE_SAVED "rbx", "r12"

static inline const struct bobbin_arch *own_arch(void)
{
	return bobbin_arch_amd64();
}

static inline struct bobbin_regs interrupted(const ucontext_t *context,
					     uint64_t gpr[BOBBIN_REG_COUNT])
{
	static const uint8_t of_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					   REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					   REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *r = context->uc_mcontext.gregs;

	for (unsigned int i = 0; i < 16; i++)
		gpr[i] = (uint64_t)r[of_dwarf[i]];
	return (struct bobbin_regs){
		.pc = (uint64_t)r[REG_RIP],
		.sp = gpr[7],
		.fp = gpr[6],
		.gpr = gpr,
		.gpr_known = 0xffff,
		.exact = true,
	};
}

#elif defined(__aarch64__)

#define CALLEE_SAVED "x19", "x20"

static inline const struct bobbin_arch *own_arch(void)
{
	return bobbin_arch_aarch64();
}

static inline struct bobbin_regs interrupted(const ucontext_t *context,
					     uint64_t gpr[BOBBIN_REG_COUNT])
{
	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = context->uc_mcontext.regs[i];
	gpr[31] = context->uc_mcontext.sp;
	return (struct bobbin_regs){
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

#define CALLEE_SAVED "r10", "r14"

static inline const struct bobbin_arch *own_arch(void)
{
	return bobbin_arch_s390x();
}

static inline struct bobbin_regs interrupted(const ucontext_t *context,
					     uint64_t gpr[BOBBIN_REG_COUNT])
{
	static const uint8_t dwarf_of_f[] = {16, 20, 17, 21, 18, 22, 19, 23,
					     24, 28, 25, 29, 26, 30, 27, 31};

	for (unsigned int i = 0; i < 16; i++) {
		gpr[i] = context->uc_mcontext.gregs[i];
		memcpy(&gpr[dwarf_of_f[i]], &context->uc_mcontext.fpregs.fprs[i], 8);
	}
	return (struct bobbin_regs){
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

#endif
