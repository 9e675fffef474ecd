/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/byte_countdown.h"

#include <stdbool.h>

/* Once in 10^18 times, more would be drawn. */
#define MOST_MEANS 40

/* Marsaglia's xorshift64*: its high bits are good. */
static uint32_t next_random(uint64_t *random)
{
	*random ^= *random >> 12;
	*random ^= *random << 25;
	*random ^= *random >> 27;
	return (uint32_t)(*random * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

/* Whether a run of falling numbers that begins with @first is of odd length. */
static bool is_odd_run(uint64_t *random, uint32_t first)
{
	bool odd = true;
	uint32_t last = first, next;

	while ((next = next_random(random)) < last) {
		last = next;
		odd = !odd;
	}
	return odd;
}

/*
 * Von Neumann's way to an exponentially distributed number (1951), which compares uniform ones and
 * needs no logarithm.
 */
uint64_t countdown_draw(uint64_t *random, uint64_t mean)
{
	uint64_t means = 0;
	uint32_t first = next_random(random);

	while (means < MOST_MEANS && !is_odd_run(random, first)) {
		means++;
		first = next_random(random);
	}
	return 1 + means * mean + (uint64_t)(((unsigned __int128)first * mean) >> 32);
}
