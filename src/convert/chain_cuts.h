/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chain_cuts.h - how to divide the rows of a chain among FDEs.
 *
 * A cut costs an FDE.  It gains bytes if the starts of rows become narrower, or if the rows of
 * a piece are in the section already.  A piece goes beyond a function's end only if its starts
 * fit into one byte, so a lookup reads no more rows than in functions of usual size.
 */
#ifndef BOBBIN_CONVERT_CHAIN_CUTS_H
#define BOBBIN_CONVERT_CHAIN_CUTS_H

#include "convert/piece_counts.h"
#include "convert/row_chain.h"

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
