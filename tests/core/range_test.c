/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges hold what lies in one of them.
 */
#include <bobbin/range.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct bobbin_range ranges[] = {{16, 32}, {48, 64}, {UINT64_MAX - 8, UINT64_MAX}};

static bool holds(uint64_t start, uint64_t size)
{
	return bobbin_ranges_hold(ranges, 3, start, size);
}

static void what_lies_in_one_range_is_held(void **state)
{
	assert_true(holds(16, 16));
	assert_true(holds(31, 1));
	assert_true(holds(50, 3));
	assert_true(holds(UINT64_MAX - 8, 8));
}

static void what_lies_in_none_or_in_two_is_not(void **state)
{
	assert_false(holds(0, 1));
	assert_false(holds(15, 2));
	assert_false(holds(31, 2));
	assert_false(holds(31, 18));
	assert_false(holds(32, 1));
	assert_false(holds(64, 1));
	assert_false(holds(0, UINT64_MAX));
}

static void no_bytes_lie_at_the_end_of_a_range_too(void **state)
{
	assert_true(holds(32, 0));
	assert_false(holds(33, 0));
}

static void bytes_that_wrap_are_not_held(void **state)
{
	assert_false(holds(UINT64_MAX - 8, 9));
	assert_false(holds(UINT64_MAX - 8, UINT64_MAX));
}

static void no_ranges_hold_nothing(void **state)
{
	assert_false(bobbin_ranges_hold(NULL, 0, 16, 1));
	assert_false(bobbin_ranges_hold(NULL, 0, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_in_one_range_is_held),
		cmocka_unit_test(what_lies_in_none_or_in_two_is_not),
		cmocka_unit_test(no_bytes_lie_at_the_end_of_a_range_too),
		cmocka_unit_test(bytes_that_wrap_are_not_held),
		cmocka_unit_test(no_ranges_hold_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
