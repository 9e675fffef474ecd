/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What several sections of a file say becomes one table.
 */
#include "table/table_sources.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../convert/section_function.h"
#include "table/compiled_table.h"

#define TEXT 0x401000

/* A rule that is like no other. */
static struct bobbin_rule rule_of(int32_t n)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = 8 + 8 * n},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

static void init(struct table_builder *b)
{
	assert_int_equal(table_builder_init(bobbin_arch_amd64(), NULL, 0, b), 0);
}

/* A function of one row for each of @rules, at [@start, @end) in equal parts. */
static void put(struct table_builder *b, uint64_t start, uint64_t end, const char *rules)
{
	size_t count = strlen(rules);

	assert_int_equal(table_builder_begin(b, start), 0);
	for (size_t i = 0; i < count; i++) {
		const struct bobbin_rule rule = rule_of(rules[i]);
		const uint64_t at = start + i * (end - start) / count;

		assert_int_equal(table_builder_rule(b, at, &rule), 0);
	}
	assert_int_equal(table_builder_end(b, end), 0);
}

/* The rules of [TEXT, TEXT + strlen(@expected)): "." none, upper case where functions begin. */
static void assert_rules(struct table_builder *b, const char *expected)
{
	struct compiled_table table;
	uint8_t *data;
	uint64_t size;

	assert_int_equal(table_builder_make(b, &data, &size), 0);
	assert_int_equal(compiled_table_init(data, size, NULL, &table), 0);
	for (size_t i = 0; i <= strlen(expected); i++) {
		struct compiled_row row;
		struct bobbin_rule rule, wanted = rule_of(expected[i] | 0x20);
		bool begins = expected[i] >= 'A' && expected[i] <= 'Z';

		if (expected[i] == '.' || !expected[i]) {
			assert_int_equal(compiled_table_find(&table, TEXT + i, &row), -ENOENT);
			continue;
		}
		assert_int_equal(compiled_table_find(&table, TEXT + i, &row), 0);
		assert_int_equal(compiled_table_rule(&table, &row, &rule), 0);
		assert_true(bobbin_rule_equal(&rule, &wanted));
		assert_int_equal(row.begins && row.start == TEXT + i, begins);
	}
	free(data);
}

static void what_is_under_holds_where_nothing_is_said(void **state)
{
	struct table_builder over, under;

	init(&over);
	init(&under);
	put(&under, TEXT, TEXT + 4, "ab");
	put(&over, TEXT + 6, TEXT + 8, "cd");
	put(&under, TEXT + 5, TEXT + 9, "ee");
	put(&over, TEXT + 10, TEXT + 12, "f");
	put(&under, TEXT + 11, TEXT + 14, "ghi");
	assert_int_equal(table_builder_underlay(&over, &under), 0);
	assert_rules(&over, "Aabb.ECde.Ffhi");
	table_builder_fini(&over);
	table_builder_fini(&under);
}

static void what_is_said_of_nothing_adds_nothing(void **state)
{
	struct table_builder over, under;

	init(&over);
	init(&under);
	put(&under, TEXT, TEXT + 4, "ab");
	assert_int_equal(table_builder_underlay(&over, &under), 0);
	assert_rules(&over, "Aabb");
	table_builder_fini(&under);
	init(&under);
	assert_int_equal(table_builder_underlay(&over, &under), 0);
	assert_rules(&over, "Aabb");
	table_builder_fini(&over);
	table_builder_fini(&under);
}

/* A section of one function. */
static struct bobbin_sframe_view section_of(const struct bobbin_sframe_function *f, uint8_t **data)
{
	struct bobbin_sframe_view view;
	struct section_maker maker;
	uint64_t size;

	assert_int_equal(section_maker_init(bobbin_arch_amd64(), 0, 3, false, 0, &maker), 0);
	assert_int_equal(section_maker_add(&maker, f), 0);
	assert_int_equal(section_maker_finish(&maker, data, &size), 0);
	section_maker_fini(&maker);
	assert_int_equal(bobbin_sframe_view(*data, size, 0, NULL, &view), 0);
	return view;
}

static void rows_that_repeat_are_written_out(void **state)
{
	struct bobbin_sframe_row rows[] = {{1, rule_of('a')}, {3, rule_of('b')}};
	struct bobbin_sframe_function f = {
		.start = TEXT, .size = 10, .rep_size = 4, .rows = rows, .count = 2};
	struct table_sources sources = {.arch = bobbin_arch_amd64(), .sframe_count = 1};
	struct bobbin_sframe_view view;
	struct table_builder b;
	uint8_t *data;

	view = section_of(&f, &data);
	sources.sframe = &view;
	init(&b);
	assert_int_equal(table_sources_rows(&sources, &b), 0);
	assert_rules(&b, ".aab.aab.a");
	table_builder_fini(&b);
	free(data);

	f.size = 0x7fffffff;
	view = section_of(&f, &data);
	init(&b);
	assert_int_equal(table_sources_rows(&sources, &b), -E2BIG);
	table_builder_fini(&b);
	free(data);
}

static void without_rows_nothing_repeats(void **state)
{
	struct bobbin_sframe_row rows[] = {{0, rule_of('a')}};
	struct bobbin_sframe_function f = {
		.start = TEXT, .size = 10, .rep_size = 4, .rows = rows, .count = 1};
	struct table_sources sources = {.arch = bobbin_arch_amd64(), .sframe_count = 1};
	struct bobbin_sframe_view view;
	struct compiled_table table;
	struct compiled_row row;
	struct bobbin_rule rule;
	struct table_builder b;
	uint8_t *data, *made;
	uint64_t size;

	view = section_of(&f, &data);
	/* the number of rows comes first in what a function has of its own */
	memset(data + view.fre_off, 0, 2);
	sources.sframe = &view;
	init(&b);
	assert_int_equal(table_sources_rows(&sources, &b), 0);
	assert_int_equal(table_builder_make(&b, &made, &size), 0);
	assert_int_equal(compiled_table_init(made, size, NULL, &table), 0);
	assert_int_equal(compiled_table_find(&table, TEXT + 7, &row), 0);
	assert_int_equal(compiled_table_rule(&table, &row, &rule), 0);
	assert_int_equal(rule.ra.how, BOBBIN_HOW_UNDEFINED);
	table_builder_fini(&b);
	free(made);
	free(data);
}

static void sections_are_asked_in_order(void **state)
{
	struct bobbin_sframe_row rows[2][1] = {{{0, rule_of('a')}}, {{0, rule_of('b')}}};
	struct bobbin_sframe_view views[2];
	struct table_sources sources = {
		.arch = bobbin_arch_amd64(), .sframe = views, .sframe_count = 2};
	struct table_builder b;
	uint8_t *data[2];

	for (unsigned int i = 0; i < 2; i++)
		views[i] = section_of(
			&(struct bobbin_sframe_function){
				.start = TEXT + i, .size = 3, .rows = rows[i], .count = 1},
			&data[i]);
	init(&b);
	assert_int_equal(table_sources_rows(&sources, &b), 0);
	assert_rules(&b, "AaaB");
	table_builder_fini(&b);
	free(data[0]);
	free(data[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_under_holds_where_nothing_is_said),
		cmocka_unit_test(what_is_said_of_nothing_adds_nothing),
		cmocka_unit_test(rows_that_repeat_are_written_out),
		cmocka_unit_test(without_rows_nothing_repeats),
		cmocka_unit_test(sections_are_asked_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
