/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/cgroup_table.h"

static void cgroups_are_found_by_numbers_and_by_paths(void **state)
{
	struct cgroup_table table = {.seed = 7};
	char path[16];

	assert_null(cgroup_table_find(&table, 1));
	assert_null(cgroup_table_named(&table, "/"));
	for (uint64_t i = 1; i < 1000; i++) {
		snprintf(path, sizeof(path), "/a/%d", (int)i);
		assert_int_equal(cgroup_table_add(&table, i << 40, path), 0);
	}
	assert_string_equal(cgroup_table_find(&table, 500ull << 40)->path, "/a/500");
	assert_int_equal(cgroup_table_named(&table, "/a/999")->id, 999ull << 40);
	assert_null(cgroup_table_find(&table, 500));
	assert_null(cgroup_table_named(&table, "/a"));
	cgroup_table_fini(&table);
}

static void the_first_path_of_a_number_stays(void **state)
{
	struct cgroup_table table = {.seed = 7};
	const struct cgroup *first;

	assert_int_equal(cgroup_table_add(&table, 3, "/first"), 0);
	first = cgroup_table_find(&table, 3);
	assert_int_equal(cgroup_table_add(&table, 3, "/second"), 0);
	assert_ptr_equal(cgroup_table_find(&table, 3), first);
	assert_string_equal(first->path, "/first");
	assert_null(cgroup_table_named(&table, "/second"));
	cgroup_table_fini(&table);
}

static void memory_is_bounded(void **state)
{
	struct cgroup_table table = {.seed = 7};
	const size_t length = 1 << 20;
	char *path = malloc(length + 1);
	uint64_t count = 0;

	memset(path, 'x', length);
	path[length] = '\0';
	while (!cgroup_table_add(&table, ++count, path))
		assert_true(count <= CGROUP_TABLE_BYTES / length);
	assert_int_equal(cgroup_table_add(&table, count, path), -E2BIG);
	assert_true(table.bytes <= CGROUP_TABLE_BYTES);
	assert_int_equal(cgroup_table_add(&table, count, "/small"), 0);
	free(path);
	cgroup_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cgroups_are_found_by_numbers_and_by_paths),
		cmocka_unit_test(the_first_path_of_a_number_stays),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
