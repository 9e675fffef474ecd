/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registers.h - the registers of user space, by their DWARF numbers.
 *
 * Numbers as in the ABI supplements of each architecture.
 */
#ifndef _KERNEL_UNWIND_SFRAME_REGISTERS_H
#define _KERNEL_UNWIND_SFRAME_REGISTERS_H

#include <linux/ptrace.h>
#include <linux/sched.h>
#ifdef CONFIG_S390
#include <linux/fpu.h>
#endif

#include <bobbin/step.h>

/* Fill @gpr; a bit for each that is there. */
static inline u32 sframe_registers(const struct pt_regs *regs, u64 gpr[BOBBIN_REG_COUNT])
{
#if defined(CONFIG_X86_64)
	const unsigned long numbered[] = {
		regs->ax,  regs->dx,  regs->cx,  regs->bx,  regs->si,  regs->di,
		regs->bp,  regs->sp,  regs->r8,  regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15,
	};

	if (!user_64bit_mode((struct pt_regs *)regs))
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(numbered); i++)
		gpr[i] = numbered[i];
	return GENMASK(ARRAY_SIZE(numbered) - 1, 0);
#elif defined(CONFIG_ARM64)
	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = regs->regs[i];
	gpr[31] = regs->sp;
	return GENMASK(31, 0);
#elif defined(CONFIG_S390)
	/* leaf functions keep others in f registers, which DWARF numbers so from 16 on */
	static const u8 numbered[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

	save_user_fpu_regs();
	for (unsigned int i = 0; i < 16; i++) {
		gpr[i] = regs->gprs[i];
		gpr[16 + i] = current->thread.ufpu.vxrs[numbered[i]].high;
	}
	return GENMASK(31, 0);
#else
	return 0;
#endif
}

/* The interrupted frame: all that is known. */
static inline void sframe_leaf(const struct pt_regs *user, u64 gpr[BOBBIN_REG_COUNT],
			       struct bobbin_regs *regs)
{
	regs->gpr = gpr;
	regs->gpr_known = sframe_registers(user, gpr);
#if defined(CONFIG_ARM64) || defined(CONFIG_S390)
	regs->ra = gpr[BOBBIN_NATIVE_ARCH()->ra];
	regs->ra_known = true;
#endif
}

#endif
