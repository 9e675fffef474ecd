/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * row_chain.h - functions that touch, as one sequence of rows.
 *
 *	functions	│ a          │ b     │ c            │
 *	rows		0   1   2    3   4   5   6   7   8
 *
 * Only the section's size depends on how these rows are divided among FDEs, so they are
 * divided anew.
 */
#ifndef BOBBIN_CONVERT_ROW_CHAIN_H
#define BOBBIN_CONVERT_ROW_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "convert/function_list.h"

/*
 * How often the same rows occur.
 *
 * A hash stands for the rows.  A collision makes a count too high, which costs a few bytes:
 * rows are compared before they are shared.  If the table is full, some rows are not counted.
 */

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

/* Prefetch the slot of a hash. */
static inline void piece_counts_prefetch(const struct piece_counts *counts, uint64_t hash)
{
	__builtin_prefetch(&counts->slots[hash & counts->mask], 1);
}

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

/* Room for about @pieces different pieces, within limits.  0, -ENOMEM. */
int piece_counts_init(struct piece_counts *counts, uint64_t pieces);

/* The slot for a hash, the spare one, which has no count, if there is no room. */
struct piece_slot *piece_counts_find(struct piece_counts *counts, uint64_t hash);

/* The counts of chosen pieces become the counts. */
void piece_counts_turn(struct piece_counts *counts);

void piece_counts_fini(struct piece_counts *counts);

/**
 * struct chain_row - a row
 * @body: its info byte and words
 * @start: bytes from the chain's start
 * @function: number of the first row of its function
 * @hash: of @body; only where row_chain_hash() was called
 * @size: bytes of @body
 * @same: equal to the row before, and not needed unless an FDE begins with it
 */
struct chain_row {
	const uint8_t *body;
	uint32_t start, function;
	uint64_t hash;
	uint8_t size;
	bool same;
};

/**
 * struct row_chain - a chain; starts as all zero
 * @start: address of the first function
 * @size: bytes of code
 * @info: the functions' info byte without the width of starts
 * @flex: their rows are flexible ones
 * @widest: bytes of a row's start, at most, in the functions
 * @rows, @count: at least one
 */
struct row_chain {
	uint64_t start;
	uint32_t size;
	uint8_t info, widest;
	bool flex;
	struct chain_row *rows;
	size_t count, capacity;
};

/* Whether the function has rows that can be cut: some, which do not repeat. */
bool row_chain_can_start(const struct function_list *list, size_t index);

/*
 * The number of functions from @first on, one that a chain can start with, that
 * touch, agree about everything but rows, and have a row from their start on.
 */
size_t row_chain_length(const struct function_list *list, size_t first);

/* Read @length functions that make a chain.  0, -ENOMEM. */
int row_chain_read(struct row_chain *chain, const struct function_list *list, size_t first,
		   size_t length);

void row_chain_hash(struct row_chain *chain);

void row_chain_fini(struct row_chain *chain);

/*
 * How to divide the rows of a chain among FDEs.
 *
 * A cut costs an FDE.  It gains bytes if the starts of rows become narrower, or if the rows of
 * a piece are in the section already.  A piece goes beyond a function's end only if its starts
 * fit into one byte, so a lookup reads no more rows than in functions of usual size.
 */

/**
 * struct chain_cut - the best way up to a row
 * @cost: bytes of the pieces before the row, in units of the function that fills
 *	it in
 * @from: number of the row that the last of these pieces begins with
 * @slot: of that piece, when they are counted; NULL: it is a function that is cut by
 *	width itself
 */
struct chain_cut {
	uint64_t cost;
	uint32_t from;
	struct piece_slot *slot;
};

/* A row that a piece may begin with. */
struct window_item {
	int64_t key;
	uint32_t row;
};

/**
 * struct chain_cuts - where to cut; starts as all zero
 * @cuts: one for each number of rows
 * @items: memory
 */
struct chain_cuts {
	struct chain_cut *cuts;
	size_t capacity;
	struct window_item *items;
	size_t item_capacity;
};

/* Bytes of an FDE, without rows: all of them, and those that cannot be shared. */
struct fde_cost {
	uint32_t whole, index;
};

/* Find the cuts that make a chain of one function smallest.  Linear.  0, -ENOMEM. */
int chain_cuts_by_width(struct chain_cuts *cuts, const struct row_chain *chain,
			const struct fde_cost *cost);

/* Count the pieces that the chain could be cut into.  The chain has hashes. */
void chain_cuts_count(const struct row_chain *chain, struct piece_counts *counts);

/*
 * Find the cuts that make it smallest if a piece with a count of n costs 1/n of its bytes, and
 * count these pieces as used.  Long functions may be smaller if they are cut by width; @wide
 * is memory for this.  Linear.  0, -ENOMEM.
 */
int chain_cuts_by_count(struct chain_cuts *cuts, const struct row_chain *chain,
			const struct fde_cost *cost, struct piece_counts *counts,
			struct chain_cuts *wide);

/* The rows of a chain from @begin up to @end, which it shares. */
struct row_chain chain_part(const struct row_chain *chain, size_t begin, size_t end);

/*
 * Turn the way back into a list: after this, the piece that begins with row i
 * ends before row @cuts->cuts[i].from.
 */
void chain_cuts_reverse(struct chain_cuts *cuts, size_t count);

void chain_cuts_fini(struct chain_cuts *cuts);

#endif
