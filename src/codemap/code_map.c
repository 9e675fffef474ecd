/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "codemap/code_tree.h"

static BOBBIN_ALWAYS_INLINE struct code *find_in_slot(const struct slot *slot, uint64_t addr,
						      struct code_range *ret)
{
	uint32_t offset = (uint32_t)addr;
	const struct entry *e = leaf_find(atomic_load(&slot->leaf), offset);
	struct code *code = e ? atomic_load(&e->code) : NULL;

	if (code && ret)
		*ret = (struct code_range){addr - offset + e->start, addr - offset + e->last + 1,
					   code};
	return code;
}

/* Where many leaves lie close together: not inlined, for the sake of all others. */
static BOBBIN_NEVER_INLINE struct code *find_crowded(const struct directory *d, uint64_t addr,
						     struct code_range *ret)
{
	return find_in_slot(&d->slots[directory_find(d, (uint32_t)addr)], addr, ret);
}

struct code *code_map_find(const struct code_map *map, uint64_t addr, struct code_range *ret)
{
	const struct root *root = atomic_load(&map->root);
	const struct chunk *chunk = &root->chunks[chunk_rank(root, addr >> 32)];
	const struct directory *d;
	const struct slot *slot;

	if (chunk->high != addr >> 32)
		return NULL;
	d = atomic_load(&chunk->directory);
	slot = slot_guess(d, (uint32_t)addr);
	if (__builtin_expect(slot->last < (uint32_t)addr, 0))
		return find_crowded(d, addr, ret);
	return find_in_slot(slot, addr, ret);
}

/* The first entry of a leaf that ends at an offset or after it. */
static bool next_in_leaf(const struct leaf *leaf, uint32_t offset, struct item *ret)
{
	for (uint32_t i = 0; i < leaf->count; i++) {
		const struct entry *e = &leaf->entries[i];
		struct code *code;

		if (e->last < offset)
			continue;
		code = atomic_load_explicit(&e->code, memory_order_relaxed);
		if (!code)
			continue;
		*ret = (struct item){e->start, e->last, code};
		return true;
	}
	return false;
}

/* The first piece that ends at an offset or after it. */
static bool next_in(const struct directory *d, uint32_t offset, struct item *ret)
{
	for (uint32_t i = directory_find(d, offset); i < d->count; i++)
		if (d->slots[i].live && next_in_leaf(leaf_at(d, i), offset, ret))
			return true;
	return false;
}

bool code_map_next(const struct code_map *map, uint64_t addr, struct code_range *ret)
{
	const struct root *root = atomic_load_explicit(&map->root, memory_order_relaxed);
	struct item item;

	for (uint32_t c = chunk_rank(root, addr >> 32); c < root->count; c++) {
		uint64_t base = root->chunks[c].high << 32;

		if (base + UINT32_MAX < addr ||
		    !next_in(directory_at(root, c), base < addr ? (uint32_t)addr : 0, &item))
			continue;
		*ret = (struct code_range){base + item.start, base + item.last + 1, item.code};
		return true;
	}
	return false;
}

void code_map_wait(struct code_map *map)
{
	read_wait(&map->readers);
	free_retired(map, &map->old);
	free_retired(map, &map->young);
}

/* A directory of one leaf. */
static struct directory *directory_start(struct code_map *map, const struct item *item)
{
	struct directory *d = directory_new(1);
	struct leaf *leaf = d ? leaf_new(map, item, item ? 1 : 0) : NULL;

	if (!leaf) {
		if (d)
			free(d);
		return NULL;
	}
	directory_set(d, 0, 0, leaf, item ? 1 : 0);
	directory_index(d);
	return d;
}

/* The first range of a chunk. */
static int add_chunk(struct code_map *map, uint32_t high, const struct item *item)
{
	struct root *old = atomic_load_explicit(&map->root, memory_order_relaxed), *root;
	struct directory *d = directory_start(map, item);
	uint32_t n = 0, after = chunk_rank(old, high) + 1;

	root = d ? root_new(old->count + 1) : NULL;
	if (!root) {
		if (d) {
			leaf_free(map, leaf_at(d, 0));
			free(d);
		}
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < old->count; i++) {
		if (i == after)
			root_set(root, n++, high, d);
		root_set(root, n++, old->chunks[i].high, directory_at(old, i));
	}
	if (n == old->count)
		root_set(root, n, high, d);
	atomic_store(&map->root, root);
	retire_root(map, old);
	return 0;
}

/* Leaves that take the place of one. */
struct change {
	struct leaf *leaves[2];
	uint32_t starts[2], live[2], count;
	uint32_t last; /* the next leaves begin after this */
};

/* A leaf's ranges and one more, in one leaf or two; 0, -ENOMEM. */
static int change_leaf(struct code_map *map, const struct directory *d, uint32_t i,
		       const struct item *item, struct change *ret)
{
	struct item items[LEAF_RANGES + 1];
	uint32_t n = leaf_items(leaf_at(d, i), items), at = n, cut;

	while (at && items[at - 1].start > item->start) {
		items[at] = items[at - 1];
		at--;
	}
	items[at] = *item;
	n++;
	/* who adds in order, upwards or down, makes full leaves */
	cut = n <= LEAF_RANGES ? n : at == n - 1 ? n - 1 : at == 0 ? 1 : n / 2;

	*ret = (struct change){.starts = {slot_start(d, i), items[cut % n].start},
			       .live = {cut, n - cut},
			       .count = cut < n ? 2 : 1,
			       .last = item->last};
	for (uint32_t j = 0; j < ret->count; j++) {
		ret->leaves[j] = leaf_new(map, items + j * cut, ret->live[j]);
		if (ret->leaves[j])
			continue;
		if (j)
			leaf_free(map, ret->leaves[0]);
		return -ENOMEM;
	}
	return 0;
}

/* A directory with leaf @i changed and without leaves that are empty. */
static struct directory *directory_changed(const struct directory *old, uint32_t i,
					   const struct change *change)
{
	uint32_t count = change->count, n = 0;
	struct directory *d;

	for (uint32_t j = 0; j < old->count; j++)
		count += j != i && old->slots[j].live;
	d = directory_new(count);
	if (!d)
		return NULL;
	for (uint32_t j = 0; j < old->count; j++) {
		uint32_t start = slot_start(old, j);

		if (j > i && start <= change->last)
			start = change->last + 1;
		if (j != i && old->slots[j].live)
			directory_set(d, n++, start, leaf_at(old, j), old->slots[j].live);
		for (uint32_t k = 0; j == i && k < change->count; k++)
			directory_set(d, n++, change->starts[k], change->leaves[k],
				      change->live[k]);
	}
	directory_index(d);
	return d;
}

/* All ranges in as few leaves as leave some room; NULL: no memory. */
static struct directory *directory_packed(struct code_map *map, const struct directory *old,
					  size_t total)
{
	const uint32_t fill = LEAF_RANGES - LEAF_RANGES / 4;
	struct item items[2 * LEAF_RANGES];
	struct directory *d = directory_new((uint32_t)((total + fill - 1) / fill));
	uint32_t n = 0, pending = 0, i = 0;

	if (!d)
		return NULL;
	while (n < d->count) {
		uint32_t used;
		struct leaf *leaf;

		while (pending < fill && i < old->count)
			pending += leaf_items(leaf_at(old, i++), items + pending);
		used = pending < fill ? pending : fill;
		leaf = leaf_new(map, items, used);
		if (!leaf)
			break;
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): there is a range in each leaf */
		directory_set(d, n, n ? items[0].start : 0, leaf, used);
		n++;
		pending -= used;
		memmove(items, items + used, pending * sizeof(*items));
	}
	if (n < d->count) {
		while (n)
			leaf_free(map, leaf_at(d, --n));
		free(d);
		return NULL;
	}
	directory_index(d);
	return d;
}

static void publish_directory(struct code_map *map, uint32_t chunk, struct directory *d)
{
	struct root *root = atomic_load_explicit(&map->root, memory_order_relaxed);
	struct directory *old = directory_at(root, chunk);

	atomic_store(&root->chunks[chunk].directory, d);
	retire_directory(map, old);
}

/* Where many ranges were removed, leaves have few each. */
static void pack(struct code_map *map, uint32_t chunk, struct directory *old)
{
	size_t total = 0;
	struct directory *d;

	for (uint32_t i = 0; i < old->count; i++)
		total += old->slots[i].live;
	if (old->count < 2 || total * SPARSE > (size_t)old->count * LEAF_RANGES)
		return;
	d = directory_packed(map, old, total);
	if (!d)
		return;
	publish_directory(map, chunk, d);
	for (uint32_t i = 0; i < old->count; i++)
		retire_leaf(map, leaf_at(old, i));
}

static int change_directory(struct code_map *map, uint32_t chunk, uint32_t i,
			    const struct change *change)
{
	struct root *root = atomic_load_explicit(&map->root, memory_order_relaxed);
	struct directory *old = directory_at(root, chunk);
	struct directory *d = directory_changed(old, i, change);

	if (!d) {
		for (uint32_t k = 0; k < change->count; k++)
			leaf_free(map, change->leaves[k]);
		return -ENOMEM;
	}
	publish_directory(map, chunk, d);
	for (uint32_t j = 0; j < old->count; j++)
		if (j == i || !old->slots[j].live)
			retire_leaf(map, leaf_at(old, j));
	pack(map, chunk, d);
	return 0;
}

static int add_piece(struct code_map *map, uint32_t high, const struct item *item)
{
	struct root *root = atomic_load_explicit(&map->root, memory_order_relaxed);
	uint32_t chunk = chunk_rank(root, high), i;
	struct directory *d;
	struct change change;
	struct leaf *old;

	if (root->chunks[chunk].high != high)
		return add_chunk(map, high, item);
	d = directory_at(root, chunk);
	i = directory_find(d, item->start);
	if (change_leaf(map, d, i, item, &change))
		return -ENOMEM;
	if (change.count > 1 || d->slots[i].last < item->last)
		return change_directory(map, chunk, i, &change);
	old = leaf_at(d, i);
	atomic_store(&d->slots[i].leaf, change.leaves[0]);
	d->slots[i].live++;
	retire_leaf(map, old);
	return 0;
}

/* The piece of a range that begins at @start, which moves after it. */
static struct item next_piece(uint64_t *start, const struct code_range *range)
{
	uint64_t last = *start | UINT32_MAX;
	struct item item = {.start = (uint32_t)*start, .code = range->code};

	if (last > range->end - 1)
		last = range->end - 1;
	item.last = (uint32_t)last;
	*start = last + 1;
	return item;
}

/* false: there is no such piece. */
static bool remove_piece(struct code_map *map, uint32_t high, const struct item *item)
{
	struct root *root = atomic_load_explicit(&map->root, memory_order_relaxed);
	uint32_t chunk = chunk_rank(root, high), i;
	struct directory *d = directory_at(root, chunk);
	struct entry *e;
	struct code *code;

	i = directory_find(d, item->start);
	e = (struct entry *)leaf_find(leaf_at(d, i), item->start);
	if (root->chunks[chunk].high != high || !e || e->start != item->start ||
	    e->last != item->last)
		return false;
	code = atomic_load_explicit(&e->code, memory_order_relaxed);
	if (!code)
		return false;
	atomic_store(&e->code, NULL);
	d->slots[i].live--;
	retire_code(map, code);
	return true;
}

static int remove_pieces(struct code_map *map, const struct code_range *range, uint64_t end)
{
	for (uint64_t start = range->start; start != end;) {
		uint32_t high = (uint32_t)(start >> 32);
		struct item item = next_piece(&start, range);

		if (!remove_piece(map, high, &item))
			return -ENOENT;
	}
	return 0;
}

int code_map_add(struct code_map *map, const struct code_range *range)
{
	struct code_range next;

	if (range->start >= range->end || range->end - range->start > 1ull << 40)
		return -EINVAL;
	if (code_map_next(map, range->start, &next) && next.start < range->end)
		return -EEXIST;
	for (uint64_t start = range->start; start != range->end;) {
		uint64_t at = start;
		struct item item = next_piece(&start, range);

		if (add_piece(map, (uint32_t)(at >> 32), &item)) {
			range->code->ranges++; /* not released by what follows */
			remove_pieces(map, range, at);
			range->code->ranges--;
			return -ENOMEM;
		}
		range->code->ranges++;
	}
	atomic_fetch_add(&map->generation, 1);
	reclaim(map);
	return 0;
}

int code_map_remove(struct code_map *map, const struct code_range *range)
{
	int r = remove_pieces(map, range, range->end);

	if (r)
		return r;
	atomic_fetch_add(&map->generation, 1);
	reclaim(map);
	return 0;
}

int code_map_open(struct code_map **ret)
{
	struct code_map *map = aligned_alloc(_Alignof(struct code_map), sizeof(*map));
	struct root *root;
	struct directory *d;

	if (!map)
		return -ENOMEM;
	memset(map, 0, sizeof(*map));
	reader_epochs_init(&map->readers);
	root = root_new(1);
	d = root ? directory_start(map, NULL) : NULL;
	if (!d) {
		free(root);
		free(map);
		return -ENOMEM;
	}
	root_set(root, 0, 0, d);
	atomic_store(&map->root, root);
	*ret = map;
	return 0;
}

static void remove_all(struct code_map *map)
{
	struct code_range range;

	for (uint64_t addr = 0; code_map_next(map, addr, &range); addr = range.end) {
		remove_pieces(map, &range, range.end);
		if (!range.end)
			break;
	}
}

void code_map_close(struct code_map *map)
{
	struct root *root;

	if (!map)
		return;
	remove_all(map);
	root = atomic_load(&map->root);
	for (uint32_t i = 0; i < root->count; i++)
		retire_directory(map, directory_at(root, i));
	retire_root(map, root);
	free_retired(map, &map->old);
	free_retired(map, &map->young);
	while (map->slabs) {
		struct slab *slab = map->slabs;

		map->slabs = slab->next;
		free(slab);
	}
	free(map);
}

void code_map_forked(struct code_map *map)
{
	read_forget(&map->readers);
}

struct reader_epochs *code_map_readers(struct code_map *map)
{
	return &map->readers;
}

uint64_t code_map_generation(const struct code_map *map)
{
	return atomic_load_explicit(&map->generation, memory_order_acquire);
}

void code_map_tables_changed(struct code_map *map)
{
	atomic_fetch_add(&map->generation, 1);
}

void code_map_hold(struct code *code)
{
	code->ranges++;
}

void code_map_let_go(struct code_map *map, struct code *code)
{
	retire_code(map, code);
	reclaim(map);
}
