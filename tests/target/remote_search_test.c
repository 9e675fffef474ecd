/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unwind/remote_code.h"

#define END 100 /* after the last range */

/* The first two touch. */
static struct remote_range ranges[] = {
	{.start = 10, .end = 20},
	{.start = 20, .end = 21},
	{.start = 40, .end = 60},
	{.start = 90, .end = END},
};

static size_t after(size_t count, uint64_t addr)
{
	size_t i = 0;

	while (i < count && ranges[i].end <= addr)
		i++;
	return i;
}

static void each_address_finds_the_range_that_ends_after_it(void **state)
{
	(void)state;
	for (size_t count = 0; count <= 4; count++) {
		const struct remote_code code = {.ranges = ranges, .count = count};

		for (uint64_t addr = 0; addr <= END; addr++)
			assert_int_equal(remote_code_after(&code, addr), after(count, addr));
		assert_int_equal(remote_code_after(&code, UINT64_MAX), count);
	}
}

static void what_was_found_last_does_not_matter(void **state)
{
	(void)state;
	for (size_t count = 0; count <= 4; count++) {
		const struct remote_code code = {.ranges = ranges, .count = count};

		for (uint64_t addr = 0; addr <= END; addr++)
			for (size_t before = 0; before <= 6; before++) {
				size_t last = before;

				assert_int_equal(remote_code_after_again(&code, addr, &last),
						 after(count, addr));
				assert_int_equal(last, after(count, addr));
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_address_finds_the_range_that_ends_after_it),
		cmocka_unit_test(what_was_found_last_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
