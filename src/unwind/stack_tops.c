/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/stack_tops.h"

#include <stdbool.h>

#include "base/clock.h"
#include "base/proc_maps.h"
#include "core/stack_top.h"

#define FOUND 1

struct top_search {
	uint64_t zero, end;
};

/* The lines ascend: what can be read may follow the mapping at once. */
static int look_at_map(void *ctx, const struct proc_map *map)
{
	struct top_search *s = ctx;

	if (s->end) {
		if (map->start == s->end && map->read)
			s->end = 0;
		return FOUND;
	}
	if (s->zero < map->start)
		return FOUND;
	if (s->zero < map->end && map->read && !map->ino && map->end - s->zero <= TOP_SIZE)
		s->end = map->end;
	return 0;
}

static bool may_read(struct stack_tops *tops, uint64_t now)
{
	if (now - tops->second >= NS_PER_SECOND) {
		tops->second = now;
		tops->read = 0;
	}
	return tops->read++ < STACK_TOPS_RATE;
}

uint64_t stack_top_end(struct stack_tops *tops, const struct remote_process *process, uint64_t zero)
{
	const uint64_t key = (zero ^ (uint64_t)process->pid << 48) * 0x9e3779b97f4a7c15ull;
	struct stack_top_answer *a = &tops->kept[(key >> 32) % STACK_TOPS_KEPT];
	struct top_search search = {.zero = zero};
	const uint64_t now = clock_now();
	int r;

	if (a->time && a->zero == zero && a->pid == process->pid && now - a->time < NS_PER_SECOND)
		return a->end;
	if (!may_read(tops, now))
		return 0;
	r = proc_maps_read(process, look_at_map, &search);
	*a = (struct stack_top_answer){
		.zero = zero,
		.end = r == FOUND || !r ? search.end : 0,
		.time = now,
		.pid = process->pid,
	};
	return a->end;
}
