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

#include "convert/function_list.h"

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

#endif
