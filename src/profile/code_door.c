/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/code_door.h"

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

void code_door_note(struct code_door *door, uint64_t generation, uint64_t now)
{
	uint64_t next = at_least(door->soonest, now + CODE_SEARCH_PAUSE);

	if (door->since && door->generation == generation)
		return;
	door->generation = generation;
	door->since = now;
	door->search = door->search ? at_most(door->search, next) : next;
	if (!door->open)
		door->due = at_most(door->due, door->soonest);
}

/* The next search is as far away as the last mapping. */
void code_door_miss(struct code_door *door, uint64_t cost, uint64_t now)
{
	uint64_t quiet = at_most(at_least(now - door->since, CODE_SEARCH_PAUSE), CODE_LAST_WAIT);

	door->open = false;
	door->soonest = now + at_least(CODE_SEARCH_FACTOR * cost, CODE_SEARCH_PAUSE);
	door->search = at_least(now + quiet, door->soonest);
	door->due = door->search;
	if (!code_door_is_quick(door))
		return;
	door->searches++;
	door->due = now + at_least(CODE_READ_FACTOR * cost, CODE_READ_PAUSE);
}

void code_door_read(struct code_door *door, uint64_t cost, uint64_t now)
{
	door->open = true;
	door->wait = 0;
	door->due = now + at_least(CODE_READ_FACTOR * cost, CODE_READ_PAUSE);
}

/* It is the first time again if nobody has asked for a while. */
void code_door_retry(struct code_door *door, uint64_t cost, uint64_t now)
{
	const bool again = door->wait && now - door->due <= 2 * door->wait;

	door->wait = again ? at_most(2 * door->wait, CODE_SEARCH_PAUSE) : CODE_RETRY_PAUSE;
	door->due = now + at_least(CODE_READ_FACTOR * cost, door->wait);
}
