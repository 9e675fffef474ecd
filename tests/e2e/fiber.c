/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fiber MS - compute in a context that makecontext(3) made. */
#include <ucontext.h>

#include "spin.h"

static ucontext_t first, second;
static char stack[65536];
static long ms;

static void in_fiber(void)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	ms = ms_argument(argc, argv);
	if (getcontext(&second))
		return 1;
	second.uc_stack.ss_sp = stack;
	second.uc_stack.ss_size = sizeof(stack);
	second.uc_link = &first;
	makecontext(&second, in_fiber, 0);
	return swapcontext(&first, &second) ? 1 : 0;
}
