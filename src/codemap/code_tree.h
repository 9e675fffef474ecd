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
 *	directory   bucket[(offset - first) >> shift] ─► slot ─► leaf
 *	leaf        coarse[] ─► entry
 *
 * Roots and directories are immutable, but that a slot's pointer to a leaf is
 * swapped; leaves are immutable, but that a removed range's code becomes NULL.
 * Whatever is swapped out is retired: it is used again when no reader sees it.
 */
#ifndef BOBBIN_CODEMAP_CODE_TREE_H
#define BOBBIN_CODEMAP_CODE_TREE_H

#include <stdint.h>

#include "codemap/code.h"
#include "codemap/reader_epochs.h"
#include "core/bisect.h"
#include "core/deps.h"

/*
 * How many of a leaf's starts are not after an address.
 *
 * All starts are compared, without a branch that could be mispredicted.  Compilers vectorise
 * the loop.  On x86 summing a vector would take longer than all the rest; as the starts
 * ascend, the first bit of a mask gives the same number.
 */

#define LEAF_RANGES 28 /* makes a leaf half a KiB */
#define LEAF_LINE 32   /* numbers in a cache line: the last four are none of the starts */

#ifdef __SSE2__
#include <emmintrin.h>

static BOBBIN_ALWAYS_INLINE unsigned int after_of(const int16_t *starts, __m128i at)
{
	const __m128i *v = (const __m128i *)starts;

	return (unsigned int)_mm_movemask_epi8(
		_mm_packs_epi16(_mm_cmpgt_epi16(v[0], at), _mm_cmpgt_epi16(v[1], at)));
}

/* @starts: a cache line, aligned */
static BOBBIN_ALWAYS_INLINE unsigned int leaf_rank(const int16_t starts[LEAF_LINE], int16_t at)
{
	__m128i all = _mm_set1_epi16(at);
	unsigned int after = after_of(starts, all) | after_of(starts + 16, all) << 16;

	return (unsigned int)__builtin_ctz(after | 1u << LEAF_RANGES);
}
#else
static BOBBIN_ALWAYS_INLINE unsigned int leaf_rank(const int16_t starts[LEAF_LINE], int16_t at)
{
	int16_t after = 0;

	for (unsigned int i = 0; i < LEAF_RANGES; i++)
		after += starts[i] > at;
	return (unsigned int)(LEAF_RANGES - after);
}
#endif

#define SLAB_LEAVES 63 /* leaves that are allocated at once, with their links 32 KiB */
#define SLAB_SIZE 32768
#define SMALL_SLABS 16     /* that are allocated one by one; then as many as fill */
#define ARENA_SIZE 2097152 /* a huge page */
#define RETIRED_MAX 64     /* pieces that wait for readers before somebody looks */
#define SPARSE 4           /* pack when leaves are less than a 4th full */

/* A range, or what of it lies in one chunk. */
struct entry {
	uint32_t start, last; /* ascending; the last byte */
	struct code *_Atomic code;
};

/*
 * The first line is enough to find the entry: how far from @base each starts, in
 * units that are large enough for 15 bits, INT16_MAX after the last.
 */
struct leaf {
	union {
		_Alignas(64) int16_t line[LEAF_LINE];
		struct {
			int16_t coarse[LEAF_RANGES];
			uint32_t base; /* start of the first entry; 0: there is none */
			uint8_t shift; /* 2^shift bytes are a unit */
			uint8_t count; /* entries, also those that were removed */
		};
	};
	struct entry entries[LEAF_RANGES];
};

/* A part of a chunk, and the leaf of what begins and ends in it. */
struct slot {
	uint32_t last; /* offset; the part begins after the one of the slot before */
	uint32_t live; /* ranges that were not removed; the writers' */
	struct leaf *_Atomic leaf;
};

struct directory {
	struct directory *next; /* the writers' */
	uint32_t count;         /* of slots, at least one */
	uint32_t first, shift, last_bucket;
	uint32_t *bucket;    /* the slot of the bucket's first byte */
	struct slot slots[]; /* and one more, which is only looked at */
};

struct chunk {
	uint64_t high; /* of addresses, shifted down */
	struct directory *_Atomic directory;
};

/* The first chunk is that of address 0, so that a search finds something. */
struct root {
	struct root *next; /* the writers' */
	uint32_t count;
	struct chunk chunks[]; /* ascending */
};

/* Leaves, and links for lists of them, which must not be in what readers look at. */
struct slab {
	_Alignas(SLAB_SIZE) struct leaf leaves[SLAB_LEAVES];
	struct leaf *links[SLAB_LEAVES];
	struct slab *next; /* of the first slab in memory that was allocated at once */
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
	struct reader_epochs readers;
	struct root *_Atomic root;
	_Atomic uint64_t generation;
	/* the writers' */
	struct slab *slabs;
	size_t slab_count;
	struct leaf *free_leaves;
	struct retired young, old; /* since the grace began, and what it is for */
	struct read_grace grace;
};

/* A range, or what of it lies in one chunk. */
struct item {
	uint32_t start, last;
	struct code *code;
};

static inline struct leaf **leaf_link(struct leaf *leaf)
{
	struct slab *slab = (struct slab *)((uintptr_t)leaf & ~(uintptr_t)(SLAB_SIZE - 1));

	return &slab->links[leaf - slab->leaves];
}

static inline struct leaf *leaf_at(const struct directory *d, uint32_t i)
{
	return atomic_load_explicit(&d->slots[i].leaf, memory_order_relaxed);
}

static inline struct directory *directory_at(const struct root *root, uint32_t chunk)
{
	return atomic_load_explicit(&root->chunks[chunk].directory, memory_order_relaxed);
}

/* The ranges of a leaf that were not removed. */
static inline uint32_t leaf_items(const struct leaf *leaf, struct item *items)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < leaf->count; i++) {
		const struct entry *e = &leaf->entries[i];
		struct code *code = atomic_load_explicit(&e->code, memory_order_relaxed);

		if (code)
			items[n++] = (struct item){e->start, e->last, code};
	}
	return n;
}

/* Where slot @i's part begins. */
static inline uint32_t slot_start(const struct directory *d, uint32_t i)
{
	return i ? d->slots[i - 1].last + 1 : 0;
}

/* The slot for an offset, or one before it, whose part then ends before the offset. */
static BOBBIN_ALWAYS_INLINE const struct slot *slot_guess(const struct directory *d,
							  uint32_t offset)
{
	uint32_t bucket = (offset - d->first) >> d->shift;
	const struct slot *slot;

	if (offset < d->first)
		return d->slots;
	slot = &d->slots[d->bucket[bucket < d->last_bucket ? bucket : d->last_bucket]];
	return slot + (slot->last < offset);
}

/* The number of the slot for an offset. */
uint32_t directory_find(const struct directory *d, uint32_t offset);

/* The entry that holds an offset, or NULL. */
static BOBBIN_ALWAYS_INLINE const struct entry *leaf_find(const struct leaf *leaf, uint32_t offset)
{
	uint32_t units = (offset - leaf->base) >> leaf->shift;
	const struct entry *e;

	if (offset < leaf->base)
		return NULL;
	if (units >= INT16_MAX)
		units = INT16_MAX - 1;
	e = &leaf->entries[leaf_rank(leaf->line, (int16_t)units) - 1];
	while (__builtin_expect(e->start > offset, 0)) /* in the same unit; the first does not */
		e--;
	return offset <= e->last ? e : NULL;
}

/* The last chunk at or before the one of an address.  Mostly there are three or four. */
static BOBBIN_ALWAYS_INLINE uint32_t chunk_rank(const struct root *root, uint64_t high)
{
	uint32_t i = root->count;

	if (__builtin_expect(i > 8, 0))
		return bisect(at, 1, i, root->chunks[at].high > high) - 1;
	do
		i--;
	while (root->chunks[i].high > high);
	return i;
}

struct leaf *leaf_new(struct code_map *map, const struct item *items, uint32_t count);
void leaf_free(struct code_map *map, struct leaf *leaf);
struct directory *directory_new(uint32_t count);
void directory_set(struct directory *d, uint32_t i, uint32_t start, struct leaf *leaf,
		   uint32_t live);
void directory_index(struct directory *d);
void retire_leaf(struct code_map *map, struct leaf *leaf);
void retire_directory(struct code_map *map, struct directory *directory);
void retire_root(struct code_map *map, struct root *root);
void retire_code(struct code_map *map, struct code *code);
struct root *root_new(uint32_t count);
void free_retired(struct code_map *map, struct retired *r);
void reclaim(struct code_map *map);
void root_set(struct root *root, uint32_t i, uint64_t high, struct directory *directory);

#endif
