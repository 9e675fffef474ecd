/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_door.h - when a process may be asked again what code it has.
 */
#ifndef BOBBIN_PROFILE_CODE_DOOR_H
#define BOBBIN_PROFILE_CODE_DOOR_H

#include <stdbool.h>
#include <stdint.h>

/* A way to tell.  Times are CLOCK_MONOTONIC's nanoseconds. */
struct code_door {
	bool open;         /* the process uses it */
	uint64_t due;      /* not before */
	uint64_t search;   /* when to search without a cause; 0: not set yet */
	uint64_t wait;     /* between such searches */
	uint32_t searches; /* in vain, of those that may follow each other quickly */
};

/* Of a process.  Zero: nothing is known. */
struct code_watch {
	struct code_door page, images;
	uint64_t told; /* the newest registration that the recording has heard of */
};

#endif
