/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zero_caller MS - compute on a stack of its own whose first function was not called: its
 * return address is 0.  Libraries of coroutines do so.
 */
#include <stdint.h>

#include "spin.h"

static uint64_t words[8192] __attribute__((aligned(16)));
static long ms;

static __attribute__((noreturn, used)) void coroutine(void)
{
	spin(ms);
	exit(0);
}

int main(int argc, char **argv)
{
	uint64_t *top = words + sizeof(words) / sizeof(*words) - 2;

	ms = ms_argument(argc, argv);
	*--top = 0;
	__asm__ volatile("mov %0, %%rsp\n\tjmp coroutine" : : "r"(top) : "memory");
	__builtin_unreachable();
}
