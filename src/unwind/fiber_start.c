/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/fiber_start.h"

#include <bobbin/backtrace.h>
#include <string.h>
#include <ucontext.h>

#include "base/native_arch.h"

/* Not every C library has them. */
#pragma weak getcontext
#pragma weak makecontext

static void never_runs(void)
{
}

uint64_t after_fiber_start(void)
{
	const struct bobbin_arch *arch = native_arch();
	_Alignas(16) uint8_t stack[1024];
	uint64_t gpr[BOBBIN_REG_COUNT], after;
	struct bobbin_regs regs;
	ucontext_t context;

	if (!getcontext || !makecontext || getcontext(&context))
		return 0;
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = NULL;
	makecontext(&context, never_runs, 0);
	bobbin_context_regs(&context, gpr, &regs);
	after = (arch->default_ra_off ? *(const uint64_t *)regs.sp : gpr[arch->ra]) + 1;
	/* see struct frame_walk */
	explicit_bzero(stack, sizeof(stack));
	explicit_bzero(gpr, sizeof(gpr));
	explicit_bzero(&context, sizeof(context));
	return after;
}
