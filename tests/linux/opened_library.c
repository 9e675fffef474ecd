/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opened_library.c - what opened_stacks.c opens. */

static volatile unsigned long sink;

__attribute__((noinline, noclone)) unsigned long f_within(unsigned long (*leaf)(unsigned long),
							  int depth)
{
	unsigned long sum = depth ? f_within(leaf, depth - 1) : leaf(3);

	sink += sum;
	return sum + 1;
}

void f_opened(unsigned long (*leaf)(unsigned long), int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += f_within(leaf, 4);
}
