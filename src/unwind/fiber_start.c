/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/fiber_start.h"

#include <string.h>
#include <ucontext.h>

/* Not every C library has them. */
#pragma weak getcontext
#pragma weak makecontext

static void never_runs(void)
{
}

#if defined(__x86_64__)
static uint64_t return_address(const ucontext_t *context)
{
	uint64_t ret;

	memcpy(&ret, (const void *)context->uc_mcontext.gregs[REG_RSP], sizeof(ret));
	return ret;
}
#elif defined(__aarch64__)
static uint64_t return_address(const ucontext_t *context)
{
	return context->uc_mcontext.regs[30];
}
#elif defined(__s390x__)
static uint64_t return_address(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[14];
}
#else
#error "no registers for this architecture"
#endif

uint64_t fiber_start(void)
{
	_Alignas(16) uint8_t stack[1024];
	ucontext_t context;

	if (!getcontext || !makecontext || getcontext(&context))
		return 0;
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	context.uc_link = NULL;
	makecontext(&context, never_runs, 0);
	return return_address(&context);
}
