/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bare_stacks.c - stacks in code with frame pointers and without a table, of a leaf function
 * that makes no frame, and of a short one that makes a frame and leaves it again.
 *
 *	bare_stacks ROUNDS
 *
 * Frame pointers alone do not know the caller of f_leaf, nor that of f_framed before it has its
 * frame and after it has left it; stacks.awk does.
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

NOINLINE unsigned long f_leaf(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 8; i++)
		sum += n & i ? i : n ^ sum >> 3;
	return sum;
}

NOINLINE unsigned long f_framed(unsigned long n)
{
	return n ^ (unsigned long)__builtin_frame_address(0);
}

NOINLINE void f_bare(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += f_leaf((unsigned long)i) + f_framed(sink);
}

int main(int argc, char **argv)
{
	f_bare(argc == 2 ? atoi(argv[1]) : 0);
	return 0;
}
