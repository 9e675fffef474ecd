/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "profile/perf_id_map.h"

/* Two rounds of multiply and fold: nobody who does not know the seed can make ids collide. */
static size_t first_slot(const struct perf_id_map *map, uint64_t id)
{
	uint64_t hash = (id ^ map->seed) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 32 ^ map->seed) * 0xd6e8feb86659fd93ull;
	return (size_t)(hash ^ hash >> 32) & (map->capacity - 1);
}

static struct perf_id_slot *slot_of(const struct perf_id_map *map, uint64_t id)
{
	size_t i = first_slot(map, id);

	while (map->slots[i].event && map->slots[i].id != id)
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static int grow(struct perf_id_map *map)
{
	struct perf_id_map grown = {.used = map->used, .seed = map->seed};

	grown.capacity = map->capacity ? 2 * map->capacity : 16;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	/* Without entropy the map is as good as its constants. */
	if (!map->capacity && getrandom(&grown.seed, sizeof(grown.seed), GRND_NONBLOCK) < 0)
		grown.seed = 0;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].event)
			*slot_of(&grown, map->slots[i].id) = map->slots[i];
	free(map->slots);
	*map = grown;
	return 0;
}

int perf_id_map_add(struct perf_id_map *map, uint64_t id, uint32_t event)
{
	struct perf_id_slot *slot;

	if (2 * map->used >= map->capacity && grow(map))
		return -ENOMEM;
	slot = slot_of(map, id);
	map->used += !slot->event;
	*slot = (struct perf_id_slot){.id = id, .event = event + 1};
	return 0;
}

bool perf_id_map_find(const struct perf_id_map *map, uint64_t id, uint32_t *ret)
{
	const struct perf_id_slot *slot;

	if (!map->capacity)
		return false;
	slot = slot_of(map, id);
	if (!slot->event)
		return false;
	*ret = slot->event - 1;
	return true;
}

void perf_id_map_fini(struct perf_id_map *map)
{
	free(map->slots);
	*map = (struct perf_id_map){0};
}
