/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/block_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/spool_file.h"
#include "base/vector.h"

/* MAP_FAILED: there is no file, or no room in it.  Room is asked for first: writing to a hole may fail. */
static void *map_spooled(struct block_store *store)
{
	const off_t at = (off_t)(store->spooled * STORED_BLOCK);

	if (!store->file)
		store->file = spool_file_open() + 1;
	if (store->file <= 0 || posix_fallocate(store->file - 1, at, STORED_BLOCK))
		return MAP_FAILED;
	return mmap(NULL, STORED_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, store->file - 1, at);
}

static struct stored_block new_block(struct block_store *store)
{
	void *data = store->count < BLOCKS_IN_MEMORY ? MAP_FAILED : map_spooled(store);
	const bool spooled = data != MAP_FAILED;

	if (!spooled)
		data = mmap(NULL, STORED_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	store->spooled += spooled;
	return (struct stored_block){data == MAP_FAILED ? NULL : data, spooled};
}

int block_store_add(struct block_store *store)
{
	struct stored_block block;

	if (vector_reserve(&store->blocks, &store->room, store->count + 1, sizeof(*store->blocks)))
		return -ENOMEM;
	block = new_block(store);
	if (!block.data)
		return -ENOMEM;
	store->blocks[store->count++] = block;
	return 0;
}

void block_store_rest(const struct block_store *store)
{
	for (size_t i = 0; i < store->count; i++)
		if (store->blocks[i].spooled)
			madvise(store->blocks[i].data, STORED_BLOCK, MADV_DONTNEED);
}

void block_store_fini(struct block_store *store)
{
	for (size_t i = 0; i < store->count; i++)
		munmap(store->blocks[i].data, STORED_BLOCK);
	free(store->blocks);
	if (store->file > 0)
		close(store->file - 1);
	*store = (struct block_store){0};
}
