/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* compute N - a chain of functions for a compiler that runs at run time. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((noinline)) uint64_t compiled_leaf(uint64_t n)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum = sum * 31 + i;
	return sum;
}

__attribute__((noinline)) uint64_t compiled_caller(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 100; i++)
		sum += compiled_leaf(n) ^ i;
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	for (int i = atoi(argv[1]); i > 0; i--)
		sum += compiled_caller(10000);
	return sum == 1;
}
