/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wandering MS LEVELS [MARK] - work at the end of recursions of two functions, in an order that is
 * never the same.
 *
 * With MARK it is the same few orders after a third of the time.  After another third the file
 * MARK is made.
 */
#include "spin.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#define ORDERS 20

static uint64_t bits = 1;

static void descend(int levels);

static NOINLINE void left(int levels)
{
	descend(levels);
	NO_TAIL_CALL();
}

static NOINLINE void right(int levels)
{
	descend(levels);
	NO_TAIL_CALL();
}

static inline __attribute__((always_inline)) void descend(int levels)
{
	bits ^= bits << 13;
	bits ^= bits >> 7;
	bits ^= bits << 17;
	if (!levels)
		for (volatile int i = 0; i < 100000; i++)
			;
	else if (bits & 1)
		left(levels - 1);
	else
		right(levels - 1);
}

/* Until the thread has used so much time; @again: the same orders over and over. */
static void wander(long ms, int levels, int again)
{
	for (uint64_t n = 0; thread_ms() < ms; n++) {
		if (again)
			bits = 0x9e3779b97f4a7c15 * (n % ORDERS + 1);
		left(levels);
	}
}

int main(int argc, char **argv)
{
	long ms = argc < 3 ? 0 : atol(argv[1]);
	int levels = argc < 3 ? 0 : atoi(argv[2]);

	if (!ms)
		return 2;
	if (argc > 3) {
		wander(ms / 3, levels, 0);
		wander(ms / 3 * 2, levels, 1);
		close(open(argv[3], O_CREAT | O_WRONLY, 0600));
	}
	wander(ms, levels, argc > 3);
	return 0;
}
