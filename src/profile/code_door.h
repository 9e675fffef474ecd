/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_door.h - when to ask a process again, in one of the ways in which it may tell of its code.
 *
 * Times are nanoseconds by CLOCK_MONOTONIC.
 */
#ifndef BOBBIN_PROFILE_CODE_DOOR_H
#define BOBBIN_PROFILE_CODE_DOOR_H

#include <stdbool.h>
#include <stdint.h>

/* Programs compile soon after they begin, and nobody should miss it for one search too early. */
#define CODE_QUICK_SEARCHES 8u
/* Between searches. */
#define CODE_SEARCH_PAUSE 50000000ull
#define CODE_LAST_WAIT 10000000000ull
/* A search is made again after that many times what it has taken. */
#define CODE_SEARCH_FACTOR 500u
/* The same of reading what is known to be there. */
#define CODE_READ_PAUSE 1000000ull
#define CODE_READ_FACTOR 20u
/* After the first time that nothing was new; each time after that twice as long, up to a search's. */
#define CODE_RETRY_PAUSE 2000000ull

/**
 * struct code_door - one way; zero: nothing is known
 * @open: the process uses it
 * @due: not before
 * @search: when to search without a cause; 0: not set yet
 * @soonest: when to search at the earliest if something has been mapped
 * @since: when that was so last, or the process was seen first
 * @generation: of the mappings then
 * @wait: since nothing was new
 * @searches: in vain, of those that may follow each other quickly
 */
struct code_door {
	bool open;
	uint64_t due, search, soonest, since, generation, wait;
	uint32_t searches;
};

/* Before it is asked when it is due: what has been mapped may have come with other code. */
void code_door_note(struct code_door *door, uint64_t generation, uint64_t now);

/* Nothing was found, and that has taken @cost. */
void code_door_miss(struct code_door *door, uint64_t cost, uint64_t now);

/* Something is there.  @cost: of reading it; 0: it had to be searched for first */
void code_door_read(struct code_door *door, uint64_t cost, uint64_t now);

/* Nothing was new, where something had to be: that has taken @cost, and is asked again. */
void code_door_retry(struct code_door *door, uint64_t cost, uint64_t now);

/* Whether the next search waits for no others. */
static inline bool code_door_is_quick(const struct code_door *door)
{
	return door->searches < CODE_QUICK_SEARCHES;
}

#endif
