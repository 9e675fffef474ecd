/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In which roots a file is looked for. */
#include "target/mapped_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void roots_come_as_they_were_met_but_our_own_first(void **state)
{
	struct file_roots roots = {0};

	(void)state;
	file_roots_add(&roots, "/proc/1/fd/8");
	file_roots_add(&roots, "/proc/1/fd/9");
	file_roots_add(&roots, "/proc/1/fd/8");
	file_roots_add(&roots, OWN_ROOT);
	file_roots_add(&roots, OWN_ROOT);
	assert_int_equal(file_roots_count(&roots), 3);
	assert_string_equal(roots.list[0], OWN_ROOT);
	assert_string_equal(roots.list[1], "/proc/1/fd/8");
	assert_string_equal(roots.list[2], "/proc/1/fd/9");
}

static void only_our_own_has_room_among_many(void **state)
{
	struct file_roots roots = {0};
	char paths[2 * FILE_ROOTS_MAX][16];

	(void)state;
	for (unsigned int i = 0; i < 2 * FILE_ROOTS_MAX; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/proc/1/fd/%u", i);
		file_roots_add(&roots, paths[i]);
	}
	assert_int_equal(file_roots_count(&roots), FILE_ROOTS_MAX);
	assert_string_equal(roots.list[FILE_ROOTS_MAX - 1], paths[FILE_ROOTS_MAX - 1]);
	file_roots_add(&roots, OWN_ROOT);
	assert_int_equal(file_roots_count(&roots), FILE_ROOTS_MAX);
	assert_string_equal(roots.list[0], OWN_ROOT);
	assert_string_equal(roots.list[1], paths[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_come_as_they_were_met_but_our_own_first),
		cmocka_unit_test(only_our_own_has_room_among_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
