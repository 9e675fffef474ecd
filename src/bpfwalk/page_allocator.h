/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_allocator.h - which pages of a map are free.
 *
 * Somebody in the kernel may still read pages that are given back, so they rest for a while
 * before they are used again.
 */
#ifndef BOBBIN_BPFWALK_PAGE_ALLOCATOR_H
#define BOBBIN_BPFWALK_PAGE_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long pages rest, in nanoseconds; a walk in an interrupt takes some microseconds. */
#define PAGE_REST_NS 1000000000ull

struct page_run {
	uint32_t first, count;
};

struct resting_run {
	struct page_run run;
	uint64_t since;
};

/**
 * struct page_allocator - the free pages
 * @runs, @run_count: that can be used, ascending and not touching
 * @resting, @resting_count: that cannot yet, in the order of time
 * @free: pages in both
 */
struct page_allocator {
	struct page_run *runs;
	size_t run_count, run_room;
	struct resting_run *resting;
	size_t resting_count, resting_room;
	uint32_t free;
};

/* All of @count pages are free.  0 or -ENOMEM. */
int page_allocator_init(uint32_t count, struct page_allocator *ret);
void page_allocator_fini(struct page_allocator *room);

/* The first of @count pages; false: there are not as many in a row. */
bool page_allocator_take(struct page_allocator *room, uint32_t count, uint32_t *ret);

/* Pages are used no more from @now on; or nobody reads them.  Without memory they are lost. */
void page_allocator_give(struct page_allocator *room, struct page_run run, uint64_t now);
void page_allocator_give_now(struct page_allocator *room, struct page_run run);

/* Those that have rested can be used; whether there were any. */
bool page_allocator_wake(struct page_allocator *room, uint64_t now);

#endif
