/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/code_tree.h"

#include <stdlib.h>
#include <sys/mman.h>

_Static_assert(sizeof(struct slab) == SLAB_SIZE, "leaf_link() finds a leaf's slab");

/* A large map's leaves lie in huge pages: there are too many others for the TLB. */
static struct slab *arena_new(void)
{
	struct slab *slabs = aligned_alloc(ARENA_SIZE, ARENA_SIZE);

	if (slabs)
		madvise(slabs, ARENA_SIZE, MADV_HUGEPAGE);
	return slabs;
}

static void fill_pool(struct code_map *map)
{
	struct slab *slabs = NULL;
	size_t count = ARENA_SIZE / SLAB_SIZE;

	if (map->slab_count >= SMALL_SLABS)
		slabs = arena_new();
	if (!slabs) {
		count = 1;
		slabs = aligned_alloc(SLAB_SIZE, SLAB_SIZE);
	}
	if (!slabs)
		return;
	for (size_t i = 0; i < count; i++)
		for (unsigned int j = 0; j < SLAB_LEAVES; j++)
			leaf_free(map, &slabs[i].leaves[j]);
	slabs->next = map->slabs;
	map->slabs = slabs;
	map->slab_count += count;
}

static void fill_leaf(struct leaf *leaf, const struct item *items, uint32_t count)
{
	uint32_t span = count ? items[count - 1].start - items[0].start : 0;

	leaf->base = count ? items[0].start : 0;
	leaf->count = (uint8_t)count;
	for (leaf->shift = 0; span >> leaf->shift >= INT16_MAX - 1;)
		leaf->shift++;
	for (uint32_t i = 0; i < LEAF_RANGES; i++) {
		struct item item = i < count ? items[i] : (struct item){0};

		leaf->coarse[i] = i < count ? (int16_t)((item.start - leaf->base) >> leaf->shift)
					    : INT16_MAX;
		leaf->entries[i].start = item.start;
		leaf->entries[i].last = item.last;
		atomic_store_explicit(&leaf->entries[i].code, item.code, memory_order_relaxed);
	}
	leaf->coarse[0] = 0; /* there is always an entry to look at */
}

struct leaf *leaf_new(struct code_map *map, const struct item *items, uint32_t count)
{
	struct leaf *leaf;

	if (!map->free_leaves)
		fill_pool(map);
	leaf = map->free_leaves;
	if (!leaf)
		return NULL;
	map->free_leaves = *leaf_link(leaf);
	fill_leaf(leaf, items, count);
	return leaf;
}

void leaf_free(struct code_map *map, struct leaf *leaf)
{
	*leaf_link(leaf) = map->free_leaves;
	map->free_leaves = leaf;
}

struct directory *directory_new(uint32_t count)
{
	struct directory *d = malloc(sizeof(*d) + (count + 1) * sizeof(*d->slots) +
				     2 * (size_t)count * sizeof(*d->bucket));

	if (!d)
		return NULL;
	d->count = count;
	d->bucket = (uint32_t *)(d->slots + count + 1);
	directory_set(d, count, 0, NULL, 0);
	return d;
}

/* Slots are set in ascending order; the one after the last says where that ends. */
void directory_set(struct directory *d, uint32_t i, uint32_t start, struct leaf *leaf,
		   uint32_t live)
{
	if (i)
		d->slots[i - 1].last = start - 1;
	d->slots[i].last = UINT32_MAX;
	d->slots[i].live = live;
	atomic_store_explicit(&d->slots[i].leaf, leaf, memory_order_relaxed);
}

/* About two buckets for a leaf, over the starts but the first, which is far away. */
void directory_index(struct directory *d)
{
	uint32_t i = 0, span;

	d->first = slot_start(d, d->count > 1);
	span = slot_start(d, d->count - 1) - d->first;
	for (d->shift = 0; span >> d->shift >= 2 * d->count;)
		d->shift++;
	d->last_bucket = span >> d->shift;
	for (uint32_t b = 0; b <= d->last_bucket; b++) {
		while (d->slots[i].last < d->first + (b << d->shift))
			i++;
		d->bucket[b] = i;
	}
}

uint32_t directory_find(const struct directory *d, uint32_t offset)
{
	uint32_t i = (uint32_t)(slot_guess(d, offset) - d->slots);

	if (d->slots[i].last >= offset)
		return i;
	return bisect(at, i + 1, d->count, slot_start(d, at) > offset) - 1;
}

void retire_leaf(struct code_map *map, struct leaf *leaf)
{
	*leaf_link(leaf) = map->young.leaves;
	map->young.leaves = leaf;
	map->young.count++;
}

void retire_directory(struct code_map *map, struct directory *directory)
{
	directory->next = map->young.directories;
	map->young.directories = directory;
	map->young.count++;
}

void retire_root(struct code_map *map, struct root *root)
{
	root->next = map->young.roots;
	map->young.roots = root;
	map->young.count++;
}

/* One range less. */
void retire_code(struct code_map *map, struct code *code)
{
	if (--code->ranges)
		return;
	code->next = map->young.codes;
	map->young.codes = code;
	map->young.count++;
}

struct root *root_new(uint32_t count)
{
	struct root *root = malloc(sizeof(*root) + count * sizeof(*root->chunks));

	if (root)
		root->count = count;
	return root;
}

void free_retired(struct code_map *map, struct retired *r)
{
	while (r->leaves) {
		struct leaf *leaf = r->leaves;

		r->leaves = *leaf_link(leaf);
		leaf_free(map, leaf);
	}
	while (r->directories) {
		struct directory *directory = r->directories;

		r->directories = directory->next;
		free(directory);
	}
	while (r->roots) {
		struct root *root = r->roots;

		r->roots = root->next;
		free(root);
	}
	while (r->codes) {
		struct code *code = r->codes;

		r->codes = code->next;
		code->release(code);
	}
	r->count = 0;
}

/* Without waiting: what readers have left behind is used again. */
void reclaim(struct code_map *map)
{
	if (!map->old.count && map->young.count >= RETIRED_MAX) {
		map->old = map->young;
		map->young = (struct retired){0};
		map->grace = (struct read_grace){false};
	}
	if (map->old.count && read_grace_over(&map->readers, &map->grace))
		free_retired(map, &map->old);
}

void root_set(struct root *root, uint32_t i, uint64_t high, struct directory *directory)
{
	root->chunks[i].high = high;
	atomic_store_explicit(&root->chunks[i].directory, directory, memory_order_relaxed);
}
