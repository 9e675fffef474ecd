/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_id_map.h - from the id in a record to the event that made it.
 *
 * A recording has an id for each event on each CPU or thread, and each record is
 * looked up.  The ids are those of the kernel, or of a liar: the hash is seeded, and
 * the caller bounds their number by the size of the file.
 */
#ifndef BOBBIN_PROFILE_PERF_ID_MAP_H
#define BOBBIN_PROFILE_PERF_ID_MAP_H

#include "base/hash_index.h"

struct perf_id {
	uint64_t id;
	uint32_t event;
};

struct perf_id_map {
	struct hash_index index;
	struct perf_id *ids;
	size_t count, capacity;
	uint64_t seed; /* of the hash */
};

/**
 * perf_id_map_add() - say which event has an id
 * @map: zeroed at first
 * @id: the last one to claim it has it
 * @event: index of the event
 *
 * Return: 0 or -ENOMEM.
 */
int perf_id_map_add(struct perf_id_map *map, uint64_t id, uint32_t event);

/**
 * perf_id_map_find() - whose id is it?
 * @map: the map
 * @id: any
 * @ret: index of the event
 *
 * Return: false if nobody claimed it.
 */
bool perf_id_map_find(const struct perf_id_map *map, uint64_t id, uint32_t *ret);

/**
 * perf_id_map_fini() - free the memory
 * @map: any map, a zeroed one too
 */
void perf_id_map_fini(struct perf_id_map *map);

#endif
