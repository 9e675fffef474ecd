/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * It computes for a number of milliseconds, in static functions: without its debug file it has no
 * names.
 */
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noipa)) static void hidden_leaf(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noipa)) static void hidden_middle(unsigned long n)
{
	hidden_leaf(n);
	sink++;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 300) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end)
		hidden_middle(100000);
	return 0;
}
