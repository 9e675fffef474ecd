/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock.h - time that passes, whatever is done to the time of day.
 */
#ifndef BOBBIN_BASE_CLOCK_H
#define BOBBIN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)

static inline uint64_t clock_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_SECOND + (uint64_t)t->tv_nsec;
}

/* Nanoseconds of a clock, which is one that cannot fail. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return clock_of(&t);
}

/* Nanoseconds since the machine began, for waiting and measuring. */
static inline uint64_t clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The same in seconds, in a few nanoseconds and some milliseconds late. */
static inline time_t clock_seconds(void)
{
	return (time_t)(clock_ns(CLOCK_MONOTONIC_COARSE) / NS_PER_SECOND);
}

#endif
