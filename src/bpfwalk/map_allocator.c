/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/map_allocator.h"

#include "base/vector.h"

int map_allocator_init(uint32_t count, struct map_allocator *ret)
{
	*ret = (struct map_allocator){.free = count};
	return vector_push(ret->runs, ret->run_count, ret->run_room, (struct map_run){0, count});
}

void map_allocator_fini(struct map_allocator *room)
{
	free(room->runs);
	free(room->resting);
	*room = (struct map_allocator){0};
}

static void remove_run(struct map_allocator *room, size_t at)
{
	room->run_count--;
	memmove(room->runs + at, room->runs + at + 1, (room->run_count - at) * sizeof(*room->runs));
}

bool map_allocator_take(struct map_allocator *room, uint32_t count, uint32_t *ret)
{
	for (size_t i = 0; i < room->run_count; i++) {
		struct map_run *run = &room->runs[i];

		if (run->count < count)
			continue;
		*ret = run->first;
		run->first += count;
		run->count -= count;
		room->free -= count;
		if (!run->count)
			remove_run(room, i);
		return true;
	}
	return false;
}

/* Where it belongs, and one with its neighbours.  false: there is no memory. */
static bool add_run(struct map_allocator *room, const struct map_run *new)
{
	size_t at = 0;

	if (vector_reserve(&room->runs, &room->run_room, room->run_count + 1, sizeof(*new)))
		return false;
	while (at < room->run_count && room->runs[at].first < new->first)
		at++;
	memmove(room->runs + at + 1, room->runs + at, (room->run_count - at) * sizeof(*new));
	room->runs[at] = *new;
	room->run_count++;
	if (at + 1 < room->run_count &&
	    room->runs[at].first + room->runs[at].count == room->runs[at + 1].first) {
		room->runs[at].count += room->runs[at + 1].count;
		remove_run(room, at + 1);
	}
	if (at && room->runs[at - 1].first + room->runs[at - 1].count == room->runs[at].first) {
		room->runs[at - 1].count += room->runs[at].count;
		remove_run(room, at);
	}
	return true;
}

void map_allocator_give(struct map_allocator *room, struct map_run run, uint64_t now)
{
	const struct resting_run resting = {run, now};

	if (run.count &&
	    !vector_push(room->resting, room->resting_count, room->resting_room, resting))
		room->free += run.count;
}

void map_allocator_give_now(struct map_allocator *room, struct map_run run)
{
	if (run.count && add_run(room, &run))
		room->free += run.count;
}

bool map_allocator_wake(struct map_allocator *room, uint64_t now)
{
	size_t count = 0;

	while (count < room->resting_count && now - room->resting[count].since >= MAP_REST_NS) {
		const struct map_run *run = &room->resting[count++].run;

		if (!add_run(room, run))
			room->free -= run->count;
	}
	room->resting_count -= count;
	if (count)
		memmove(room->resting, room->resting + count,
			room->resting_count * sizeof(*room->resting));
	return count;
}
