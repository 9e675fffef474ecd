/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block_store.h - blocks of bytes that are read again later, few of them in memory.
 *
 * The first ones stay in memory.  Further ones are mapped from a file without a name, see spool_file.h,
 * and take memory while they are used only; where that file has no room, they stay in memory, too.
 */
#ifndef BOBBIN_BASE_BLOCK_STORE_H
#define BOBBIN_BASE_BLOCK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORED_BLOCK (1u << 20)
/* Blocks that are never in a file. */
#define BLOCKS_IN_MEMORY 32

struct stored_block {
	uint8_t *data; /* STORED_BLOCK bytes, until the end where they are */
	bool spooled;
};

/* Starts as all zero. */
struct block_store {
	struct stored_block *blocks;
	size_t count, room;
	int file; /* number of its descriptor and 1; 0: none */
	size_t spooled;
};

/* Append a block of zeros.  0 or -ENOMEM. */
int block_store_add(struct block_store *store);

/* Give back the memory of blocks that are in the file; reading or writing one takes it again. */
void block_store_rest(const struct block_store *store);

void block_store_fini(struct block_store *store);

#endif
