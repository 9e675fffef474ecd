/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_tree.h - inside of the code map.
 *
 * A root has the few chunks of 4 GiB in which there is code; a directory has the
 * leaves of one chunk and an index of them; a leaf has some ranges, as 32-bit
 * offsets in the chunk, which are compared all at once.  A search so touches a few
 * lines, has no branch that depends on the address, and two searches overlap.
 *
 *	root     high 32 bits ─► directory
 *	directory   bucket[(offset - first) >> shift] ─► key[] ─► leaf
 *	leaf        start[] ─► last[], code[]
 *
 * Roots and directories are immutable, but that a directory's pointers to leaves
 * are swapped; leaves are immutable, but that a removed range's code becomes NULL.
 * Whatever is swapped out is retired: it is used again when no reader sees it.
 */
#ifndef BOBBIN_CODEMAP_CODE_TREE_H
#define BOBBIN_CODEMAP_CODE_TREE_H

#include "codemap/code_map.h"

#include "core/deps.h"

#define LEAF_RANGES 28 /* a multiple of the four that a vector has; a leaf takes half a KiB */
#define SLAB_LEAVES 63 /* leaves that are allocated at once */
#define RETIRED_MAX 64 /* pieces that wait for readers before somebody looks */
#define SPARSE 4       /* pack when leaves are less than a 4th full */

struct leaf {
	_Alignas(64) uint32_t count; /* ranges, also those that were removed */
	struct leaf *next;           /* the writers' */
	int32_t start[LEAF_RANGES];  /* ascending, see ordered(); behind the last: INT32_MAX */
	uint32_t last[LEAF_RANGES];  /* the last byte */
	struct code *_Atomic code[LEAF_RANGES];
};

/* Leaf i has what starts at key[i] or behind and ends before key[i + 1]. */
struct directory {
	struct directory *next; /* the writers' */
	uint32_t count;         /* of leaves, at least one */
	uint32_t first, shift, last_bucket;
	uint32_t *key;    /* key[0] is 0 */
	uint32_t *bucket; /* last leaf at or before the bucket's first byte; one more behind */
	uint32_t *live;   /* a leaf's ranges that were not removed; the writers' */
	struct leaf *_Atomic *leaf;
};

/* Chunks; the first is always there, so that a search finds something. */
struct root {
	struct root *next; /* the writers' */
	uint32_t count;
	uint32_t *high; /* ascending, high[0] is 0 */
	struct directory *_Atomic *directory;
};

struct slab {
	struct leaf leaves[SLAB_LEAVES];
	struct slab *next;
};

/* What was swapped out. */
struct retired {
	size_t count;
	struct leaf *leaves;
	struct directory *directories;
	struct root *roots;
	struct code *codes;
};

struct code_map {
	struct read_sections readers;
	struct root *_Atomic root;
	_Atomic uint64_t generation;
	/* the writers' */
	size_t ranges, memory;
	struct slab *slabs;
	struct leaf *free_leaves;
	struct retired young, old; /* since the grace began, and what it is for */
	struct read_grace grace;
};

/* A range, or what of it lies in one chunk. */
struct item {
	uint32_t start, last;
	struct code *code;
};

/* Vectors of the base architectures compare signed numbers only. */
static inline int32_t ordered(uint32_t offset)
{
	return (int32_t)(offset ^ 1u << 31);
}

static inline uint32_t unordered(int32_t start)
{
	return (uint32_t)start ^ 1u << 31;
}

static inline struct leaf *leaf_at(const struct directory *d, uint32_t i)
{
	return atomic_load_explicit(&d->leaf[i], memory_order_relaxed);
}

static inline struct directory *directory_at(const struct root *root, uint32_t chunk)
{
	return atomic_load_explicit(&root->directory[chunk], memory_order_relaxed);
}

/* The ranges of a leaf that were not removed. */
static inline uint32_t leaf_items(const struct leaf *leaf, struct item *items)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < leaf->count; i++) {
		struct code *code = atomic_load_explicit(&leaf->code[i], memory_order_relaxed);

		if (code)
			items[n++] = (struct item){unordered(leaf->start[i]), leaf->last[i], code};
	}
	return n;
}

/* The leaf for an offset. */
static BOBBIN_ALWAYS_INLINE uint32_t directory_find(const struct directory *d, uint32_t offset)
{
	uint32_t bucket, i, end;

	if (offset < d->first)
		return 0;
	bucket = (offset - d->first) >> d->shift;
	if (bucket > d->last_bucket)
		bucket = d->last_bucket;
	i = d->bucket[bucket];
	end = d->bucket[bucket + 1];
	while (end - i > 1) {
		uint32_t middle = i + (end - i) / 2;

		if (d->key[middle] <= offset)
			i = middle;
		else
			end = middle - 1;
	}
	return i + ((end != i) & (d->key[end] <= offset));
}

/* How many ranges start at or before an offset: all are compared, none decides. */
static BOBBIN_ALWAYS_INLINE uint32_t leaf_rank(const struct leaf *leaf, uint32_t offset)
{
	int32_t behind = 0, at = ordered(offset);

	for (unsigned int i = 0; i < LEAF_RANGES; i++)
		behind += leaf->start[i] > at;
	at = LEAF_RANGES - behind;
	return (uint32_t)at < leaf->count ? (uint32_t)at : leaf->count;
}

static BOBBIN_ALWAYS_INLINE uint32_t chunk_rank(const struct root *root, uint32_t high)
{
	uint32_t lo = 0, hi = root->count;

	while (hi - lo > 1) {
		uint32_t middle = lo + (hi - lo) / 2;

		if (root->high[middle] <= high)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

struct leaf *leaf_new(struct code_map *map, const struct item *items, uint32_t count);
void leaf_free(struct code_map *map, struct leaf *leaf);
struct directory *directory_new(struct code_map *map, uint32_t count);
void directory_free(struct code_map *map, struct directory *directory);
void directory_set(struct directory *d, uint32_t i, uint32_t key, struct leaf *leaf, uint32_t live);
void directory_index(struct directory *d);
void retire_leaf(struct code_map *map, struct leaf *leaf);
void retire_directory(struct code_map *map, struct directory *directory);
void retire_root(struct code_map *map, struct root *root);
void retire_code(struct code_map *map, struct code *code);
struct root *root_new(struct code_map *map, uint32_t count);
void root_free(struct code_map *map, struct root *root);
void free_retired(struct code_map *map, struct retired *r);
void reclaim(struct code_map *map);
void root_set(struct root *root, uint32_t i, uint32_t high, struct directory *directory);

#endif
