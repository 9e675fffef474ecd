/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bisection finds where a condition begins to hold.
 */
#include "core/bisect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_first_index_that_the_condition_holds_for_is_found(void **state)
{
	for (uint32_t count = 0; count < 40; count++)
		for (uint32_t begin = 0; begin <= count; begin++)
			for (uint32_t change = begin; change <= count; change++)
				assert_int_equal(bisect(i, begin, count, i >= change), change);
}

static void conditions_may_do_whatever_they_like(void **state)
{
	uint32_t seed = 1;

	for (uint32_t count = 0; count < 1000; count++) {
		uint32_t evaluated = 0;
		uint32_t first = bisect(i, 0, count, (evaluated++, seed = seed * 69069 + 1) >> 31);

		assert_true(first <= count);
		assert_true(evaluated <= 10);
	}
}

static void the_longest_intervals_do_not_overflow(void **state)
{
	assert_true(bisect(i, 0, UINT64_MAX, i >= UINT64_MAX - 1) == UINT64_MAX - 1);
	assert_true(bisect(i, 0, UINT32_MAX, false) == UINT32_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_index_that_the_condition_holds_for_is_found),
		cmocka_unit_test(conditions_may_do_whatever_they_like),
		cmocka_unit_test(the_longest_intervals_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
