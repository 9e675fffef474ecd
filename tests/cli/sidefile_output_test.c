/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a side-file takes to be read back: rules are looked at a few times for each row.
 *
 * compiled_table_number() is wrapped to count that.
 */
#include "cli/output_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "sidefile/sidefile.h"
#include "table/compiled_table.h"

#define TEXT 0x401000
#define ROWS 20000u
/* For each row: at its first and its last byte, and for its rule and where functions begin. */
#define LOOKS 8u

int __real_compiled_table_number(const struct compiled_table *table, uint32_t number,
				 struct bobbin_rule *ret);
int __wrap_compiled_table_number(const struct compiled_table *table, uint32_t number,
				 struct bobbin_rule *ret);

static uint64_t looks;

int __wrap_compiled_table_number(const struct compiled_table *table, uint32_t number,
				 struct bobbin_rule *ret)
{
	looks++;
	return __real_compiled_table_number(table, number, ret);
}

static struct bobbin_rule rule_of(uint32_t n)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = (int32_t)(8 + 8 * n)},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

static void a_function_of_many_rows_is_read_back_in_as_many_steps(void **state)
{
	struct sidefile_output output = {0};
	struct table_builder *table = &output.table;
	char path[] = "sidefile_output_XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(table_builder_init(bobbin_arch_amd64(), NULL, 0, table), 0);
	assert_int_equal(table_builder_begin(table, TEXT), 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		const struct bobbin_rule rule = rule_of(i % 7);

		assert_int_equal(table_builder_rule(table, TEXT + 3 * i, &rule), 0);
	}
	assert_int_equal(table_builder_end(table, TEXT + 3 * ROWS), 0);
	assert_int_equal(sidefile_make(table, &output.data, &output.size), 0);
	looks = 0;
	assert_true(sidefile_output_put(&output, path));
	assert_in_range(looks, ROWS, LOOKS * ROWS);
	sidefile_output_fini(&output);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_of_many_rows_is_read_back_in_as_many_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
