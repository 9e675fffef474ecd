/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped_stack MS [old|below] - compute on a stack that is a whole mapping, whose first function was
 * not called: its return address is 0.
 *
 * What the function jumps to in the end only a register says, so its code does not tell where it returns.
 * old: above that is an old return address.  below: the stack goes on above it.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

#define PAGE 4096
#define STACK (16 * PAGE)

static long ms;

static __attribute__((noreturn, used)) void coroutine(void)
{
	spin(ms);
	__asm__ volatile("xor %%edi, %%edi\n\tjmp *%0" : : "r"(_exit) : "rdi");
	__builtin_unreachable();
}

static NOINLINE uint64_t return_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, STACK + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *top = (uint64_t *)(memory + STACK);
	const char *how = argc > 2 ? argv[2] : "";

	ms = ms_argument(argc, argv);
	if (memory == MAP_FAILED || mprotect(memory, STACK, PROT_READ | PROT_WRITE))
		return 1;
	if (!strcmp(how, "below"))
		top -= 64;
	*--top = 0;
	*--top = strcmp(how, "old") ? 1 : return_address();
	*--top = 0;
	__asm__ volatile("mov %0, %%rsp\n\tjmp coroutine" : : "r"(top) : "memory");
	__builtin_unreachable();
}
