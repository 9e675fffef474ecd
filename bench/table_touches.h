/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_touches.h - how many cache lines of a compiled table a lookup reads.
 */
#ifndef BENCH_TABLE_TOUCHES_H
#define BENCH_TABLE_TOUCHES_H

#include "table/compiled_table.h"

/**
 * struct table_touches - different lines of 64 bytes that one lookup has read
 * @index: of the index
 * @blocks: of the blocks
 * @shared: of what all lookups share: the pairs and the words of the rules
 */
struct table_touches {
	unsigned int index, blocks, shared;
};

/* Look an address up, by the library's own source in a copy that counts. */
struct table_touches table_touches(const struct compiled_table *table, uint64_t vaddr);

#endif
