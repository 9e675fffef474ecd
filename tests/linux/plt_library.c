/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plt_library.c - what plt_stacks.c calls. */

unsigned long plt_one(unsigned long n)
{
	return n + 1;
}

unsigned long plt_two(unsigned long n)
{
	return n ^ 2;
}

unsigned long plt_three(unsigned long n)
{
	return n * 3;
}
