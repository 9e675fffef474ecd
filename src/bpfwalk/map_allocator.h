/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map_allocator.h - which entries of a BPF map are free.
 *
 * The kernel may still read entries that are given back.  Where that matters they rest for a while
 * before they are used again.
 */
#ifndef BOBBIN_BPFWALK_MAP_ALLOCATOR_H
#define BOBBIN_BPFWALK_MAP_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long entries rest, in nanoseconds; a walk in an interrupt takes some microseconds. */
#define MAP_REST_NS 1000000000ull

struct map_run {
	uint32_t first, count;
};

struct resting_run {
	struct map_run run;
	uint64_t since;
};

/**
 * struct map_allocator - the free entries of a map
 * @runs, @run_count: that can be used, ascending and not touching
 * @resting, @resting_count: that cannot yet, in the order of time
 * @free: entries in both
 */
struct map_allocator {
	struct map_run *runs;
	size_t run_count, run_room;
	struct resting_run *resting;
	size_t resting_count, resting_room;
	uint32_t free;
};

/* All of @count entries are free.  0 or -ENOMEM. */
int map_allocator_init(uint32_t count, struct map_allocator *ret);
void map_allocator_fini(struct map_allocator *room);

/* The first of @count entries; false: there are not as many in a row. */
bool map_allocator_take(struct map_allocator *room, uint32_t count, uint32_t *ret);

/* Entries are used no more from @now on; or nobody reads them.  Without memory they are lost. */
void map_allocator_give(struct map_allocator *room, struct map_run run, uint64_t now);
void map_allocator_give_now(struct map_allocator *room, struct map_run run);

/* Those that have rested can be used; whether there were any. */
bool map_allocator_wake(struct map_allocator *room, uint64_t now);

#endif
