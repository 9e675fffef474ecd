/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What libbobbin-backtrace has in place of memcpy() and its like, under other names, against loops over
 * single bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define memcpy own_memcpy
#define memmove own_memmove
#define memset own_memset
#define memcmp own_memcmp
#include "../../src/backtrace/memory_calls.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp

#define ROOM 128

static uint8_t bytes[ROOM], expected[ROOM];

static void fill(void)
{
	for (unsigned int i = 0; i < ROOM; i++)
		bytes[i] = expected[i] = (uint8_t)(i * 7 + 1);
}

static void assert_expected(void)
{
	assert_memory_equal(bytes, expected, ROOM);
}

static void all_sizes_are_copied(void **state)
{
	for (size_t size = 0; size < ROOM / 2; size++) {
		fill();
		for (size_t i = 0; i < size; i++)
			expected[ROOM / 2 + i] = expected[i];
		assert_ptr_equal(own_memcpy(bytes + ROOM / 2, bytes, size), bytes + ROOM / 2);
		assert_expected();
	}
}

/* Over each distance, both ways. */
static void bytes_are_moved_over_themselves(void **state)
{
	for (size_t from = 0; from < 40; from++)
		for (size_t to = 0; to < 40; to++)
			for (size_t size = 0; size < 70; size += 3) {
				uint8_t before[ROOM];

				fill();
				for (size_t i = 0; i < ROOM; i++)
					before[i] = bytes[i];
				for (size_t i = 0; i < size; i++)
					expected[to + i] = before[from + i];
				assert_ptr_equal(own_memmove(bytes + to, bytes + from, size),
						 bytes + to);
				assert_expected();
			}
}

static void all_sizes_are_set(void **state)
{
	for (size_t size = 0; size < ROOM - 1; size++) {
		fill();
		for (size_t i = 0; i < size; i++)
			expected[1 + i] = 0xa5;
		assert_ptr_equal(own_memset(bytes + 1, 0x1a5, size), bytes + 1);
		assert_expected();
	}
}

static void the_first_difference_counts(void **state)
{
	fill();
	assert_int_equal(own_memcmp(bytes, expected, ROOM), 0);
	for (size_t i = 0; i < ROOM; i++) {
		fill();
		bytes[i]++;
		assert_int_equal(own_memcmp(bytes, expected, i), 0);
		assert_true(own_memcmp(bytes, expected, ROOM) > 0 || !bytes[i]);
		assert_true(own_memcmp(expected, bytes, ROOM) < 0 || !bytes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes_are_copied),
		cmocka_unit_test(bytes_are_moved_over_themselves),
		cmocka_unit_test(all_sizes_are_set),
		cmocka_unit_test(the_first_difference_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
