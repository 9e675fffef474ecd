/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recursion LEVELS MS [cold] - compute MS milliseconds of CPU time, LEVELS calls deep.
 * recursion LEVELS 0 ROUNDS - a fixed work; prints the milliseconds of CPU time that it took.
 *
 * With "cold" it goes through more memory than the caches have, all the time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COLD_WORDS (16l << 20)

static volatile long sum;
static volatile long *memory;

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void compute(void)
{
	for (long i = 0; i < 1000000; i++)
		sum += memory ? memory[(i * 8 + sum) & (COLD_WORDS - 1)] + 8 : i;
}

static __attribute__((noinline)) void spin(long ms, long rounds)
{
	while (rounds ? rounds-- : cpu_ms() < ms)
		compute();
}

static __attribute__((noinline)) void descend(long levels, long ms, long rounds)
{
	if (levels)
		descend(levels - 1, ms, rounds);
	else
		spin(ms, rounds);
	sum++;
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[2]) : 0, rounds = 0;

	if (argc < 3)
		return 2;
	if (argc > 3 && !strcmp(argv[3], "cold"))
		memory = calloc(COLD_WORDS, sizeof(*memory));
	else if (argc > 3)
		rounds = atol(argv[3]) + 1;
	descend(atol(argv[1]), ms, rounds);
	if (rounds)
		printf("%ld\n", cpu_ms());
	return 0;
}
