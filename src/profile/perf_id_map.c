/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/perf_id_map.h"

#include <errno.h>
#include <stdlib.h>

static struct perf_id *find(const struct perf_id_map *map, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&map->index, hash_words(id, 0, map->seed), &at, &i))
		if (map->ids[i].id == id)
			return &map->ids[i];
	return NULL;
}

int perf_id_map_add(struct perf_id_map *map, uint64_t id, uint32_t event)
{
	struct perf_id *known = find(map, id);

	if (known) {
		known->event = event;
		return 0;
	}
	if (!map->count)
		map->seed = hash_seed();
	if (hash_index_room(&map->index, hash_words(id, 0, map->seed), &map->ids, &map->capacity,
			    map->count, sizeof(*map->ids)))
		return -ENOMEM;
	map->ids[map->count++] = (struct perf_id){.id = id, .event = event};
	return 0;
}

bool perf_id_map_find(const struct perf_id_map *map, uint64_t id, uint32_t *ret)
{
	const struct perf_id *known = find(map, id);

	if (known)
		*ret = known->event;
	return known;
}

void perf_id_map_fini(struct perf_id_map *map)
{
	hash_index_fini(&map->index);
	free(map->ids);
	*map = (struct perf_id_map){0};
}
