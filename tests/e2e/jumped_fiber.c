/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jumped_fiber MS - compute in a fiber that begins as those of boost do: its function is jumped to,
 * and returns behind that jump.
 */
#include <stdint.h>
#include <unistd.h>

#include "spin.h"

/* Not called: the registers have the function, and where it returns to. */
__asm__(".text\n"
	".globl begin_fiber, end_fiber\n"
	".type begin_fiber, @function\n"
	"begin_fiber:\n"
	"push %rbp\n"
	"jmp *%rbx\n"
	"end_fiber:\n"
	"xor %rdi, %rdi\n"
	"call _exit@PLT\n"
	"hlt\n"
	".size begin_fiber, . - begin_fiber\n");

static char stack[65536] __attribute__((aligned(16)));
static long ms;

static __attribute__((noreturn, used)) void in_fiber(void)
{
	spin(ms);
	exit(0);
}

int main(int argc, char **argv)
{
	ms = ms_argument(argc, argv);
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "lea in_fiber(%%rip), %%rbx\n\t"
			 "lea end_fiber(%%rip), %%rbp\n\t"
			 "jmp begin_fiber"
			 :
			 : "r"(stack + sizeof(stack))
			 : "memory");
	__builtin_unreachable();
}
