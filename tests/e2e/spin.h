/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spin.h - use up processor time where a test wants samples to fall.
 */
#ifndef BOBBIN_TESTS_E2E_SPIN_H
#define BOBBIN_TESTS_E2E_SPIN_H

#include <stdlib.h>
#include <time.h>

#ifndef NOINLINE
#define NOINLINE __attribute__((noipa))
#endif

/* After a call, so that it returns here and does not become a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

/* Milliseconds of processor time that the calling thread has used. */
static inline long thread_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Compute for as long. */
static NOINLINE __attribute__((unused)) void spin(long ms)
{
	long end = thread_ms() + ms;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
	} while (thread_ms() < end);
}

/* The first argument of a program, in milliseconds. */
static inline long ms_argument(int argc, char **argv)
{
	return argc > 1 ? atol(argv[1]) : 500;
}

#endif
