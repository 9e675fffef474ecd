/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_id_map.h - from the id in a record to the event that made it.
 *
 * A hash table with open addressing: a recording has an id for each event on
 * each CPU or thread, and each record is looked up.  The ids are those of the
 * kernel, or of a liar: the hash is seeded, and the caller bounds their number
 * by the size of the file.
 */
#ifndef BOBBIN_PROFILE_PERF_ID_MAP_H
#define BOBBIN_PROFILE_PERF_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_id_slot {
	uint64_t id;
	uint32_t event; /* one more than the index; 0: free */
};

struct perf_id_map {
	struct perf_id_slot *slots;
	size_t used, capacity; /* a power of two, or 0 */
	uint64_t seed;         /* of the hash */
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
