/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_blocks.h - rows become the pairs and the blocks of a table.
 */
#ifndef BOBBIN_TABLE_TABLE_BLOCKS_H
#define BOBBIN_TABLE_TABLE_BLOCKS_H

#include "table/table_layout.h"
#include "table/table_rules.h"

/**
 * struct table_blocks - the pairs and the blocks of a table
 * @pairs: the first part of the table
 * @bytes: the last part
 * @starts, @count: where they start, from the table's start on, ascending
 */
struct table_blocks {
	uint8_t pairs[TABLE_PAIRS_SIZE];
	struct byte_buffer bytes;
	uint64_t *starts;
	size_t count, capacity;
};

/*
 * Make blocks of rows, the last of which ends at @end, and of the addresses from @start up to the
 * first one.  @limit: bytes that they may have, 0: any number.  @ret is all zero before, and is
 * given to table_blocks_fini() in any case.  0; -ENOMEM; -E2BIG: the limit; -ERANGE: they are too
 * many for a table.
 */
int table_blocks_make(const struct table_rules *rules, uint64_t start, uint64_t end, uint64_t limit,
		      struct table_blocks *ret);
void table_blocks_fini(struct table_blocks *blocks);

#endif
