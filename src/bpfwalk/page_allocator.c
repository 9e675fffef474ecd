/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/page_allocator.h"

#include "base/vector.h"

int page_allocator_init(uint32_t count, struct page_allocator *ret)
{
	*ret = (struct page_allocator){.free = count};
	return vector_push(ret->runs, ret->run_count, ret->run_room, (struct page_run){0, count});
}

void page_allocator_fini(struct page_allocator *room)
{
	free(room->runs);
	free(room->resting);
	*room = (struct page_allocator){0};
}

static void remove_run(struct page_allocator *room, size_t at)
{
	room->run_count--;
	memmove(room->runs + at, room->runs + at + 1, (room->run_count - at) * sizeof(*room->runs));
}

bool page_allocator_take(struct page_allocator *room, uint32_t count, uint32_t *ret)
{
	for (size_t i = 0; i < room->run_count; i++) {
		struct page_run *run = &room->runs[i];

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
static bool add_run(struct page_allocator *room, const struct page_run *new)
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

void page_allocator_give(struct page_allocator *room, struct page_run run, uint64_t now)
{
	const struct resting_run resting = {run, now};

	if (run.count &&
	    !vector_push(room->resting, room->resting_count, room->resting_room, resting))
		room->free += run.count;
}

void page_allocator_give_now(struct page_allocator *room, struct page_run run)
{
	if (run.count && add_run(room, &run))
		room->free += run.count;
}

bool page_allocator_wake(struct page_allocator *room, uint64_t now)
{
	size_t count = 0;

	while (count < room->resting_count && now - room->resting[count].since >= PAGE_REST_NS) {
		const struct page_run *run = &room->resting[count++].run;

		if (!add_run(room, run))
			room->free -= run->count;
	}
	room->resting_count -= count;
	if (count)
		memmove(room->resting, room->resting + count,
			room->resting_count * sizeof(*room->resting));
	return count;
}
