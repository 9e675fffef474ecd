/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_in_c - a program without a C library, whose entry is a C function: its table
 * knows a return address where the kernel has put the number of arguments.
 */
static volatile unsigned long sum;

static __attribute__((noipa)) void add(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sum += i;
}

__attribute__((noreturn)) void _start(void)
{
	add(100000000);
	/* exit_group(0) */
	__asm__ volatile("xor %%edi, %%edi\n\tmov $231, %%eax\n\tsyscall"
			 :
			 :
			 : "rdi", "rax", "memory");
	__builtin_unreachable();
}
