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
#include <stdio.h>

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

/* Ranges with names, which are kept in one text. */

/* The value of an item is the offset of its name, below these bits for the list's owner. */
#define SYMLIST_NAME_MASK ((1ull << 40) - 1)

struct symlist {
	struct interval_map map;
	char *names;
	size_t names_size, names_capacity;
};

/* Add a range and its name; @marks go above SYMLIST_NAME_MASK.  Returns 0, -ENOMEM. */
int symlist_add(struct symlist *l, uint64_t start, uint64_t size, uint64_t marks, const char *name,
		size_t len);

/* Take text with names in it, such as a string table: @ret is where.  Returns 0, -ENOMEM. */
int symlist_add_text(struct symlist *l, const char *text, size_t len, uint64_t *ret);

/* Returns 0, or else what ends the reading. */
typedef int symlist_line_fn(struct symlist *l, const char *line);

/*
 * Call @add for each whole line of a file.  Returns 0, with what was added up
 * to the end or to where @add ended the reading; -ENOMEM with nothing.
 */
int symlist_read(FILE *f, symlist_line_fn *add, struct symlist *ret);

static inline const char *symlist_name(const struct symlist *l, const struct interval *item)
{
	return l->names + (item->value & SYMLIST_NAME_MASK);
}

static inline size_t symlist_memory(const struct symlist *l)
{
	return interval_map_memory(&l->map) + l->names_capacity;
}

void symlist_fini(struct symlist *l);

#endif
