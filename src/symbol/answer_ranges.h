/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer_ranges.h - what is known of a file's offsets, so that it is asked for once.
 */
#ifndef BOBBIN_SYMBOL_ANSWER_RANGES_H
#define BOBBIN_SYMBOL_ANSWER_RANGES_H

#include "symbol/symbol.h"
#include "symbol/symfile.h"

/* Zero to begin. */
struct answer_ranges {
	void *tree;
	size_t count, memory;
};

/* That the symbols at @offset, or none, are so in @holds, too; what does not fit is forgotten. */
void answer_ranges_add(struct answer_ranges *ranges, const struct offset_range *holds,
		       uint64_t offset, const struct symbol *symbols, int count);

/* Whether they are known; *@count: their number, of which at most @max are written. */
bool answer_ranges_find(const struct answer_ranges *ranges, uint64_t offset, struct symbol *ret,
			size_t max, int *count);

size_t answer_ranges_memory(const struct answer_ranges *ranges);

void answer_ranges_fini(struct answer_ranges *ranges);

#endif
