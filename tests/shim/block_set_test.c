/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks that were added are found, once, and no others; by several threads at a time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "shim/block_set.h"

#define BLOCKS 20000
#define THREADS 4

static const void *block(uintptr_t n)
{
	return (const void *)(0x7f0000000000 + n * 48);
}

static void what_was_added_is_taken_once(void **state)
{
	(void)state;
	for (uintptr_t i = 0; i < BLOCKS; i++)
		assert_true(block_set_add(block(i)));
	for (uintptr_t i = 0; i < BLOCKS; i++) {
		assert_true(block_set_may_have(block(i)));
		assert_true(block_set_take(block(i)));
		assert_false(block_set_take(block(i)));
	}
	/* all counters are back where they were */
	for (uintptr_t i = 0; i < BLOCKS; i++)
		assert_false(block_set_may_have(block(i)));
}

static void others_are_not_taken(void **state)
{
	(void)state;
	assert_true(block_set_add(block(1)));
	for (uintptr_t i = 2; i < BLOCKS; i++)
		assert_false(block_set_take(block(i)));
	assert_true(block_set_take(block(1)));
}

/* As a program that runs for long: places of blocks that were freed serve again. */
static void there_is_room_after_any_number_of_blocks(void **state)
{
	(void)state;
	for (uintptr_t i = 0; i < 50 * BLOCKS; i++) {
		assert_true(block_set_add(block(i)));
		if (i >= BLOCKS)
			assert_true(block_set_take(block(i - BLOCKS)));
	}
	block_set_clear();
	assert_false(block_set_take(block(50 * BLOCKS - 1)));
	assert_false(block_set_may_have(block(50 * BLOCKS - 1)));
}

static void a_full_set_refuses(void **state)
{
	uintptr_t n = 0;

	(void)state;
	while (n < 1u << 20 && block_set_add(block(n)))
		n++;
	assert_in_range(n, 50000, (1u << 20) - 1);
	block_set_clear();
}

static void *add_and_take(void *arg)
{
	const uintptr_t first = (uintptr_t)arg * BLOCKS;
	uintptr_t missing = 0;

	for (int round = 0; round < 20; round++) {
		for (uintptr_t i = 0; i < BLOCKS / 4; i++)
			missing += !block_set_add(block(first + i));
		for (uintptr_t i = 0; i < BLOCKS / 4; i++)
			missing += !block_set_take(block(first + i));
	}
	return (void *)missing;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];
	void *missing;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_take, (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &missing);
		assert_null(missing);
	}
	for (uintptr_t i = 0; i < THREADS * BLOCKS; i++)
		assert_false(block_set_take(block(i)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_taken_once),
		cmocka_unit_test(others_are_not_taken),
		cmocka_unit_test(there_is_room_after_any_number_of_blocks),
		cmocka_unit_test(a_full_set_refuses),
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
