/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/block_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCKS (2 * BLOCKS_IN_MEMORY)

static void fill(struct block_store *store)
{
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(block_store_add(store), 0);
		assert_int_equal(store->blocks[i].data[STORED_BLOCK - 1], 0);
		memset(store->blocks[i].data, i + 1, STORED_BLOCK);
	}
}

static void assert_filled(const struct block_store *store)
{
	assert_int_equal(store->count, BLOCKS);
	for (int i = 0; i < BLOCKS; i++) {
		assert_int_equal(store->blocks[i].data[0], i + 1);
		assert_int_equal(store->blocks[i].data[STORED_BLOCK - 1], i + 1);
	}
}

static void blocks_keep_what_is_written(void **state)
{
	struct block_store store = {0};

	fill(&store);
	assert_false(store.blocks[BLOCKS_IN_MEMORY - 1].spooled);
	assert_true(store.blocks[BLOCKS_IN_MEMORY].spooled);
	block_store_rest(&store);
	assert_filled(&store);
	block_store_fini(&store);
	assert_int_equal(store.count, 0);
}

static void without_a_file_they_stay_in_memory(void **state)
{
	struct block_store store = {0};

	setenv("TMPDIR", "/nowhere", 1);
	fill(&store);
	unsetenv("TMPDIR");
	assert_int_equal(store.spooled, 0);
	block_store_rest(&store);
	assert_filled(&store);
	block_store_fini(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_keep_what_is_written),
		cmocka_unit_test(without_a_file_they_stay_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
