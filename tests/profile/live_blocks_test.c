/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks are known until they are freed or their process ends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/live_blocks.h"

struct seen {
	uint64_t weight, count;
	int result;
};

static int note(void *ctx, const struct live_block *block)
{
	struct seen *seen = ctx;

	seen->weight += block->weight;
	seen->count++;
	for (uint32_t i = 0; i < block->count; i++)
		assert_int_equal(block->frames[i].pc, block->address + i);
	return seen->result;
}

static int add(struct live_blocks *blocks, int pid, uint64_t address, uint64_t weight)
{
	const struct bobbin_frame frames[] = {{.pc = address}, {.pc = address + 1}};
	const struct live_block like = {
		.address = address, .weight = weight, .pid = pid, .tid = pid, .count = 2};

	return live_blocks_add(blocks, &like, frames);
}

static struct seen visit(struct live_blocks *blocks, int pid, bool forget)
{
	struct seen seen = {0};

	assert_int_equal(live_blocks_visit(blocks, pid, forget, note, &seen), 0);
	return seen;
}

static void a_block_is_that_of_its_time(void **state)
{
	const struct live_block like = {.address = 0x1000, .time = 7, .pid = 1};
	struct live_block later = like;
	struct live_blocks *blocks;

	(void)state;
	later.time = 8;
	assert_int_equal(live_blocks_open(&blocks), 0);
	assert_false(live_blocks_has(blocks, 1, 0x1000, 7));
	assert_int_equal(live_blocks_add(blocks, &like, NULL), 0);
	assert_true(live_blocks_has(blocks, 1, 0x1000, 7));
	assert_false(live_blocks_has(blocks, 2, 0x1000, 7));
	assert_false(live_blocks_has(blocks, 1, 0x1000, 8));
	assert_int_equal(live_blocks_add(blocks, &later, NULL), 0);
	assert_false(live_blocks_has(blocks, 1, 0x1000, 7));
	live_blocks_free(blocks, 1, 0x1000);
	assert_false(live_blocks_has(blocks, 1, 0x1000, 8));
	live_blocks_close(blocks);
}

static void a_block_lives_until_it_is_freed(void **state)
{
	struct live_blocks *blocks;

	(void)state;
	assert_int_equal(live_blocks_open(&blocks), 0);
	assert_int_equal(add(blocks, 1, 0x1000, 5), 0);
	assert_int_equal(add(blocks, 1, 0x2000, 7), 0);
	assert_int_equal(add(blocks, 2, 0x1000, 11), 0);
	live_blocks_free(blocks, 1, 0x1000);
	live_blocks_free(blocks, 1, 0x3000);
	assert_int_equal(visit(blocks, 0, false).weight, 18);
	assert_int_equal(visit(blocks, 1, false).weight, 7);
	live_blocks_close(blocks);
}

static void a_process_ends_with_its_own(void **state)
{
	struct live_blocks *blocks;

	(void)state;
	assert_int_equal(live_blocks_open(&blocks), 0);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(add(blocks, 1 + (int)(i & 1), 0x1000 + 16 * i, 1), 0);
	assert_int_equal(visit(blocks, 1, true).count, 500);
	assert_int_equal(visit(blocks, 1, true).count, 0);
	assert_int_equal(visit(blocks, 0, false).count, 500);
	live_blocks_close(blocks);
}

static void the_last_one_at_an_address_counts(void **state)
{
	struct live_blocks *blocks;

	(void)state;
	assert_int_equal(live_blocks_open(&blocks), 0);
	assert_int_equal(add(blocks, 1, 0x1000, 5), 0);
	assert_int_equal(add(blocks, 1, 0x1000, 6), 0);
	assert_int_equal(visit(blocks, 0, false).weight, 6);
	live_blocks_close(blocks);
}

static void their_number_is_limited(void **state)
{
	struct live_blocks *blocks;

	(void)state;
	assert_int_equal(live_blocks_open(&blocks), 0);
	for (uint64_t i = 0; i < LIVE_BLOCKS_MAX; i++)
		assert_int_equal(add(blocks, 1, i, 1), 0);
	assert_int_equal(add(blocks, 1, LIVE_BLOCKS_MAX, 1), -ENOSPC);
	live_blocks_free(blocks, 1, 0);
	assert_int_equal(add(blocks, 1, LIVE_BLOCKS_MAX, 1), 0);
	live_blocks_close(blocks);
}

static void who_visits_may_end_it(void **state)
{
	struct seen seen = {.result = -EIO};
	struct live_blocks *blocks;

	(void)state;
	assert_int_equal(live_blocks_open(&blocks), 0);
	assert_int_equal(add(blocks, 1, 1, 1), 0);
	assert_int_equal(add(blocks, 1, 2, 1), 0);
	assert_int_equal(live_blocks_visit(blocks, 0, true, note, &seen), -EIO);
	assert_int_equal(seen.count, 1);
	live_blocks_close(blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_that_of_its_time),
		cmocka_unit_test(a_block_lives_until_it_is_freed),
		cmocka_unit_test(a_process_ends_with_its_own),
		cmocka_unit_test(the_last_one_at_an_address_counts),
		cmocka_unit_test(their_number_is_limited),
		cmocka_unit_test(who_visits_may_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
