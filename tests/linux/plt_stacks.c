/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plt_stacks.c - calls of another library through the PLT, bound lazily, and little else.
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

unsigned long plt_one(unsigned long n);
unsigned long plt_two(unsigned long n);
unsigned long plt_three(unsigned long n);

static volatile unsigned long sink;

NOINLINE void f_calls(unsigned long calls)
{
	for (unsigned long i = 0; i < calls; i++)
		sink += plt_one(i) + plt_two(i) + plt_three(i);
}

int main(int argc, char **argv)
{
	f_calls(argc == 2 ? strtoul(argv[1], NULL, 0) : 0);
	sink++;
	return 0;
}
