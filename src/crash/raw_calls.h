/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_calls.h - the time, and who asks, without the C library.
 */
#ifndef BOBBIN_CRASH_RAW_CALLS_H
#define BOBBIN_CRASH_RAW_CALLS_H

#include <sys/syscall.h>
#include <time.h>

#include "unwind/assembly.h"

/* Of the monotonic clock. */
static inline uint64_t raw_clock_ns(void)
{
	struct timespec now = {0};

	raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int raw_tid(void)
{
	return (int)raw_syscall(SYS_gettid, 0, 0, 0, 0);
}

static inline int raw_pid(void)
{
	return (int)raw_syscall(SYS_getpid, 0, 0, 0, 0);
}

#endif
