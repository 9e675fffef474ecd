/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/interval.h"

#include "base/vector.h"
#include "core/bisect.h"

/* Ranges of real files nest a few dozen deep (inlining); hostile ones may not. */
#define MAX_NESTING 4096
/* Longer lines are passed over. */
#define MAX_LINE 16384
/* Files may have holes of any size. */
#define MAX_BYTES ((uint64_t)256 << 20)

int interval_map_add(struct interval_map *map, uint64_t start, uint64_t size, uint64_t value)
{
	if (!size)
		return 0;
	if (map->count >= INTERVAL_NONE)
		return -ENOMEM;
	return vector_push(map->items, map->count, map->capacity,
			   (struct interval){
				   .start = start,
				   .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
				   .outer = INTERVAL_NONE,
				   .value = value,
			   });
}

static int interval_compare(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

static bool reaches(const struct interval *i, uint64_t address)
{
	return address - i->start < i->size;
}

void interval_map_sort(struct interval_map *map)
{
	uint32_t top = INTERVAL_NONE;

	if (map->count)
		qsort(map->items, map->count, sizeof(*map->items), interval_compare);
	for (size_t i = 0; i < map->count; i++) {
		struct interval *item = &map->items[i];

		while (top != INTERVAL_NONE && !reaches(&map->items[top], item->start))
			top = map->items[top].outer;
		item->outer = top;
		top = (uint32_t)i;
	}
}

void interval_map_shrink(struct interval_map *map)
{
	vector_trim(&map->items, &map->capacity, map->count, sizeof(*map->items));
}

/* The first range, in order, that starts at or after @address; may be @count. */
static size_t first_from(const struct interval_map *map, uint64_t address)
{
	return bisect(i, 0, map->count, map->items[i].start >= address);
}

/* The first range on the way outwards from @index that holds @address. */
static const struct interval *climb(const struct interval_map *map, uint32_t index,
				    uint64_t address)
{
	for (unsigned int n = 0; n < MAX_NESTING && index != INTERVAL_NONE; n++) {
		const struct interval *item = &map->items[index];

		if (reaches(item, address))
			return item;
		index = item->outer;
	}
	return NULL;
}

const struct interval *interval_map_find(const struct interval_map *map, uint64_t address)
{
	size_t after = address == UINT64_MAX ? map->count : first_from(map, address + 1);

	return after ? climb(map, (uint32_t)(after - 1), address) : NULL;
}

const struct interval *interval_map_outer(const struct interval_map *map,
					  const struct interval *inner, uint64_t address)
{
	return climb(map, inner->outer, address);
}

struct interval_gap interval_map_gap(const struct interval_map *map, uint64_t address)
{
	size_t after = address == UINT64_MAX ? map->count : first_from(map, address + 1);
	struct interval_gap gap = {0, UINT64_MAX};
	uint32_t index = after ? (uint32_t)(after - 1) : INTERVAL_NONE;

	if (after < map->count)
		gap.end = map->items[after].start;
	for (unsigned int n = 0; index != INTERVAL_NONE; n++) {
		const struct interval *item = &map->items[index];
		bool holds = reaches(item, address);
		uint64_t end = item->start + item->size, from = holds ? item->start : end;

		if (n == MAX_NESTING)
			return (struct interval_gap){address, address};
		if (from > gap.start)
			gap.start = from;
		if (holds && end > address && end < gap.end)
			gap.end = end;
		if (holds)
			break;
		index = item->outer;
	}
	return gap;
}

void interval_map_fini(struct interval_map *map)
{
	free(map->items);
	*map = (struct interval_map){0};
}

int symlist_add_text(struct symlist *l, const char *text, size_t len, uint64_t *ret)
{
	int err = vector_reserve(&l->names, &l->names_capacity, l->names_size + len + 1, 1);

	if (err)
		return err;
	memcpy(l->names + l->names_size, text, len);
	l->names[l->names_size + len] = '\0';
	*ret = l->names_size;
	l->names_size += len + 1;
	return 0;
}

int symlist_add(struct symlist *l, uint64_t start, uint64_t size, uint64_t marks, const char *name,
		size_t len)
{
	uint64_t at;
	int err = symlist_add_text(l, name, len, &at);

	return err ? err : interval_map_add(&l->map, start, size, marks | at);
}

int symlist_read(FILE *f, symlist_line_fn *add, struct symlist *ret)
{
	struct symlist l = {0};
	bool goes_on = false; /* from the previous piece */
	char line[MAX_LINE];
	uint64_t bytes = 0;
	int err = 0;

	while (!err && bytes < MAX_BYTES && fgets(line, sizeof(line), f)) {
		size_t len = strlen(line);
		bool ends = len && line[len - 1] == '\n';

		/* what follows a zero is not seen */
		bytes += ends ? len : sizeof(line) - 1;
		if (ends && !goes_on) {
			line[len - 1] = '\0';
			err = add(&l, line);
		}
		goes_on = !ends;
	}
	if (err == -ENOMEM) {
		symlist_fini(&l);
		return err;
	}
	interval_map_sort(&l.map);
	*ret = l;
	return 0;
}

void symlist_fini(struct symlist *l)
{
	free(l->names);
	interval_map_fini(&l->map);
	*l = (struct symlist){0};
}
