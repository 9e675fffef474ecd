/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dwfl_pool.h"

#include <stdlib.h>

struct pooled_walk {
	uint64_t files_hash;
	struct dwfl_walk *walk;
};

static int make_room(struct dwfl_pool *pool)
{
	size_t room = pool->room ? 2 * pool->room : 16;
	struct pooled_walk *walks;

	if (pool->count < pool->room)
		return 0;
	walks = realloc(pool->walks, room * sizeof(*walks));
	if (!walks)
		return -1;
	pool->walks = walks;
	pool->room = room;
	return 0;
}

struct dwfl_walk *dwfl_pool_get(struct dwfl_pool *pool, const struct sample_layout *layout)
{
	struct dwfl_walk *walk;

	for (size_t i = pool->count; i-- > 0;)
		if (pool->walks[i].files_hash == layout->files_hash)
			return pool->walks[i].walk;
	if (make_room(pool) || dwfl_walk_open(layout->space, &walk))
		return NULL;
	pool->walks[pool->count++] = (struct pooled_walk){layout->files_hash, walk};
	return walk;
}

void dwfl_pool_fini(struct dwfl_pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		dwfl_walk_close(pool->walks[i].walk);
	free(pool->walks);
	*pool = (struct dwfl_pool){0};
}
