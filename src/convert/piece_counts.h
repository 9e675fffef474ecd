/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * piece_counts.h - how often the same rows occur.
 *
 * A hash stands for the rows.  A collision makes a count too high, which costs a few bytes:
 * rows are compared before they are shared.  If the table is full, some rows are not counted.
 */
#ifndef BOBBIN_CONVERT_PIECE_COUNTS_H
#define BOBBIN_CONVERT_PIECE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define PIECE_NOWHERE UINT32_MAX

/**
 * struct piece_slot - some rows
 * @tag: part of the hash, 0: the slot is free
 * @count: how often they may occur
 * @used: how often they were chosen
 * @where: where they are in the result, or PIECE_NOWHERE
 */
struct piece_slot {
	uint32_t tag, count, used, where;
};

struct piece_counts {
	struct piece_slot *slots;
	uint32_t mask;
};

/* Room for about @pieces different pieces, within limits.  0, -ENOMEM. */
int piece_counts_init(struct piece_counts *counts, uint64_t pieces);

/* The slot for a hash, the spare one, which has no count, if there is no room. */
struct piece_slot *piece_counts_find(struct piece_counts *counts, uint64_t hash);

/* Prefetch the slot of a hash. */
static inline void piece_counts_prefetch(const struct piece_counts *counts, uint64_t hash)
{
	__builtin_prefetch(&counts->slots[hash & counts->mask], 1);
}

/* The counts of chosen pieces become the counts. */
void piece_counts_turn(struct piece_counts *counts);

void piece_counts_fini(struct piece_counts *counts);

static inline uint64_t piece_hash_more(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static inline uint64_t piece_hash(const uint8_t *bytes, size_t size)
{
	uint64_t hash = size;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

#endif
