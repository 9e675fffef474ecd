/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_load MILLISECONDS - something to record: CPU time some frames deep.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void work(unsigned int depth)
{
	if (depth)
		work(depth - 1);
	for (unsigned int i = 0; i < 2000; i++)
		sink += i;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * (argc > 1 ? atol(argv[1]) : 100);

	while (clock() < end)
		work(10);
	return 0;
}
