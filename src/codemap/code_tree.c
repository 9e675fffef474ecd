/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/code_tree.h"

#include <stdlib.h>

static void fill_pool(struct code_map *map)
{
	struct slab *slab = aligned_alloc(_Alignof(struct slab), sizeof(*slab));

	if (!slab)
		return;
	for (unsigned int i = 0; i < SLAB_LEAVES; i++) {
		slab->leaves[i].next = map->free_leaves;
		map->free_leaves = &slab->leaves[i];
	}
	slab->next = map->slabs;
	map->slabs = slab;
	map->memory += sizeof(*slab);
}

struct leaf *leaf_new(struct code_map *map, const struct item *items, uint32_t count)
{
	struct leaf *leaf;

	if (!map->free_leaves)
		fill_pool(map);
	leaf = map->free_leaves;
	if (!leaf)
		return NULL;
	map->free_leaves = leaf->next;
	leaf->count = count;
	for (uint32_t i = 0; i < LEAF_RANGES; i++) {
		leaf->start[i] = i < count ? ordered(items[i].start) : INT32_MAX;
		leaf->last[i] = i < count ? items[i].last : 0;
		atomic_store_explicit(&leaf->code[i], i < count ? items[i].code : NULL,
				      memory_order_relaxed);
	}
	return leaf;
}

void leaf_free(struct code_map *map, struct leaf *leaf)
{
	leaf->next = map->free_leaves;
	map->free_leaves = leaf;
}

static size_t directory_size(uint32_t count)
{
	return sizeof(struct directory) + count * (sizeof(struct leaf *) + 4 * sizeof(uint32_t)) +
	       sizeof(uint32_t);
}

struct directory *directory_new(struct code_map *map, uint32_t count)
{
	struct directory *d = malloc(directory_size(count));

	if (!d)
		return NULL;
	map->memory += directory_size(count);
	d->count = count;
	d->leaf = (struct leaf * _Atomic *)(d + 1);
	d->key = (uint32_t *)(d->leaf + count);
	d->bucket = d->key + count;
	d->live = d->bucket + 2 * count + 1;
	return d;
}

void directory_free(struct code_map *map, struct directory *directory)
{
	map->memory -= directory_size(directory->count);
	free(directory);
}

void directory_set(struct directory *d, uint32_t i, uint32_t key, struct leaf *leaf, uint32_t live)
{
	d->key[i] = key;
	d->live[i] = live;
	atomic_store_explicit(&d->leaf[i], leaf, memory_order_relaxed);
}

/* About two buckets for a leaf, over the keys but the first, which is far away. */
void directory_index(struct directory *d)
{
	uint32_t i = 0, span;

	d->first = d->key[d->count > 1];
	span = d->key[d->count - 1] - d->first;
	for (d->shift = 0; span >> d->shift >= 2 * d->count;)
		d->shift++;
	d->last_bucket = span >> d->shift;
	for (uint32_t b = 0; b <= d->last_bucket; b++) {
		while (i + 1 < d->count && d->key[i + 1] <= d->first + (b << d->shift))
			i++;
		d->bucket[b] = i;
	}
	d->bucket[d->last_bucket + 1] = d->count - 1;
}

void retire_leaf(struct code_map *map, struct leaf *leaf)
{
	leaf->next = map->young.leaves;
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

static size_t root_size(uint32_t count)
{
	return sizeof(struct root) + count * (sizeof(struct directory *) + sizeof(uint32_t));
}

struct root *root_new(struct code_map *map, uint32_t count)
{
	struct root *root = malloc(root_size(count));

	if (!root)
		return NULL;
	map->memory += root_size(count);
	root->count = count;
	root->directory = (struct directory * _Atomic *)(root + 1);
	root->high = (uint32_t *)(root->directory + count);
	return root;
}

void root_free(struct code_map *map, struct root *root)
{
	map->memory -= root_size(root->count);
	free(root);
}

void free_retired(struct code_map *map, struct retired *r)
{
	while (r->leaves) {
		struct leaf *leaf = r->leaves;

		r->leaves = leaf->next;
		leaf_free(map, leaf);
	}
	while (r->directories) {
		struct directory *directory = r->directories;

		r->directories = directory->next;
		directory_free(map, directory);
	}
	while (r->roots) {
		struct root *root = r->roots;

		r->roots = root->next;
		root_free(map, root);
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

void root_set(struct root *root, uint32_t i, uint32_t high, struct directory *directory)
{
	root->high[i] = high;
	atomic_store_explicit(&root->directory[i], directory, memory_order_relaxed);
}
