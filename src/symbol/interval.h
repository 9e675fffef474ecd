/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * interval.h - a sorted array of address ranges that may nest.
 *
 * Add in any order, sort once, then find the innermost range around an
 * address.  Each range knows the nearest earlier one that reaches beyond its
 * start, so that a search is one bisection and a short walk outwards.
 */
#ifndef BOBBIN_SYMBOL_INTERVAL_H
#define BOBBIN_SYMBOL_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
	uint64_t start;
	uint32_t size;  /* longer ranges are cut */
	uint32_t outer; /* index of the range to try next, or INTERVAL_NONE */
	uint64_t value;
};

#define INTERVAL_NONE UINT32_MAX

struct interval_map {
	struct interval *items;
	size_t count, capacity;
};

/* Returns 0, -ENOMEM.  An empty range is ignored. */
int interval_map_add(struct interval_map *map, uint64_t start, uint64_t size, uint64_t value);

/* By start; of equal starts the longer first, then the smaller value. */
void interval_map_sort(struct interval_map *map);

/* Give unused capacity back. */
void interval_map_shrink(struct interval_map *map);

/* The innermost range that holds @address, or NULL; valid until the map changes. */
const struct interval *interval_map_find(const struct interval_map *map, uint64_t address);

/* After @inner, the next range outwards that holds @address, or NULL. */
const struct interval *interval_map_outer(const struct interval_map *map,
					  const struct interval *inner, uint64_t address);

/* Addresses before @end. */
struct interval_gap {
	uint64_t start, end;
};

/* The addresses that both have. */
static inline struct interval_gap interval_gap_cut(struct interval_gap a, struct interval_gap b)
{
	return (struct interval_gap){a.start > b.start ? a.start : b.start,
				     a.end < b.end ? a.end : b.end};
}

/*
 * Addresses around @address of which interval_map_find() says the same; they may
 * not be all.  Empty where ranges nest too deeply.
 */
struct interval_gap interval_map_gap(const struct interval_map *map, uint64_t address);

void interval_map_fini(struct interval_map *map);

static inline size_t interval_map_memory(const struct interval_map *map)
{
	return map->capacity * sizeof(*map->items);
}

#endif
