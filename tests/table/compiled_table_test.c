/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/compiled_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "table/table_builder.h"

#define TEXT 0x401000

struct made {
	struct table_builder builder;
	struct compiled_table table;
	uint8_t *data;
	uint64_t size;
};

static int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	assert_int_equal(
		table_builder_init(bobbin_arch_amd64(), (const uint8_t *)"\1\2\3", 3, &m->builder),
		0);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	table_builder_fini(&m->builder);
	free(m->data);
	free(m);
	return 0;
}

/* A rule that is like no other. */
static struct bobbin_rule rule_of(uint32_t n)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = (int32_t)(8 + 8 * n)},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
}

static void begin(struct made *m, uint64_t start)
{
	assert_int_equal(table_builder_begin(&m->builder, start), 0);
}

static void put_rule(struct made *m, uint64_t start, const struct bobbin_rule *rule)
{
	assert_int_equal(table_builder_rule(&m->builder, start, rule), 0);
}

static void put(struct made *m, uint64_t start, uint32_t n)
{
	struct bobbin_rule rule = rule_of(n);

	put_rule(m, start, &rule);
}

static void end(struct made *m, uint64_t at)
{
	assert_int_equal(table_builder_end(&m->builder, at), 0);
}

static void make(struct made *m)
{
	struct bobbin_error error;

	assert_int_equal(table_builder_make(&m->builder, &m->data, &m->size), 0);
	assert_int_equal(compiled_table_init(m->data, m->size, &error, &m->table), 0);
}

static void assert_found(const struct made *m, uint64_t vaddr, const struct bobbin_rule *expected,
			 uint64_t start, uint64_t end_of_row, bool begins)
{
	struct bobbin_rule rule;
	struct compiled_row row;

	assert_int_equal(compiled_table_find(&m->table, vaddr, &row), 0);
	assert_int_equal(compiled_table_rule(&m->table, &row, &rule), 0);
	assert_true(bobbin_rule_equal(&rule, expected));
	assert_int_equal(row.start, start);
	assert_int_equal(row.end, end_of_row);
	assert_int_equal(row.begins, begins);
}

static void assert_rule(const struct made *m, uint64_t vaddr, uint32_t n, uint64_t start,
			uint64_t end_of_row, bool begins)
{
	struct bobbin_rule rule = rule_of(n);

	assert_found(m, vaddr, &rule, start, end_of_row, begins);
}

static void assert_nothing(const struct made *m, uint64_t vaddr)
{
	struct compiled_row row;

	assert_int_equal(compiled_table_find(&m->table, vaddr, &row), -ENOENT);
}

static void rows_are_found(void **state)
{
	struct made *m = *state;

	begin(m, TEXT);
	put(m, TEXT, 0);
	put(m, TEXT + 1, 1);
	put(m, TEXT + 30, 0);
	end(m, TEXT + 31);
	begin(m, TEXT + 31);
	put(m, TEXT + 31, 0);
	end(m, TEXT + 40);
	begin(m, TEXT + 48);
	put(m, TEXT + 48, 2);
	end(m, TEXT + 50);
	make(m);
	assert_nothing(m, TEXT - 1);
	assert_rule(m, TEXT, 0, TEXT, TEXT + 1, true);
	assert_rule(m, TEXT + 1, 1, TEXT + 1, TEXT + 30, false);
	assert_rule(m, TEXT + 29, 1, TEXT + 1, TEXT + 30, false);
	assert_rule(m, TEXT + 30, 0, TEXT + 30, TEXT + 31, false);
	assert_rule(m, TEXT + 31, 0, TEXT + 31, TEXT + 40, true);
	assert_nothing(m, TEXT + 40);
	assert_nothing(m, TEXT + 47);
	assert_rule(m, TEXT + 48, 2, TEXT + 48, TEXT + 50, true);
	assert_nothing(m, TEXT + 50);
	assert_nothing(m, 0);
	assert_nothing(m, UINT64_MAX);
	assert_int_equal(m->table.build_id_len, 3);
	assert_memory_equal(m->table.build_id, "\1\2\3", 3);
	assert_ptr_equal(m->table.arch, bobbin_arch_amd64());
}

static uint64_t function_at(const struct made *m, uint64_t vaddr)
{
	struct compiled_row row;

	assert_int_equal(compiled_table_find(&m->table, vaddr, &row), 0);
	return compiled_table_function(&m->table, &row);
}

static void functions_are_found(void **state)
{
	struct made *m = *state;

	/* of one long row each, one after the other */
	for (unsigned int i = 0; i < 3; i++) {
		begin(m, TEXT + i * 40000);
		put(m, TEXT + i * 40000, 5);
		end(m, TEXT + (i + 1) * 40000);
	}
	/* one that begins with nothing, and one of many rows */
	begin(m, TEXT + 120001);
	assert_int_equal(table_builder_row(&m->builder, TEXT + 120001, RULE_NONE), 0);
	put(m, TEXT + 120002, 1);
	end(m, TEXT + 120004);
	begin(m, TEXT + 120010);
	for (unsigned int i = 0; i < 5000; i++)
		put(m, TEXT + 120010 + 3 * i, i % 300);
	end(m, TEXT + 140000);
	make(m);
	for (unsigned int i = 0; i < 120000; i += 7)
		assert_int_equal(function_at(m, TEXT + i), TEXT + i / 40000 * 40000);
	assert_nothing(m, TEXT + 120001);
	assert_int_equal(function_at(m, TEXT + 120003), TEXT + 120001);
	assert_int_equal(function_at(m, TEXT + 120010), TEXT + 120010);
	assert_int_equal(function_at(m, TEXT + 139999), TEXT + 120010);
}

/* As malformed tables give them. */
static void rows_outside_are_functions_of_their_own(void **state)
{
	struct made *m = *state;
	struct compiled_row row = {0};

	begin(m, TEXT);
	put(m, TEXT, 5);
	end(m, TEXT + 9);
	make(m);
	row.start = m->table.end + 1;
	assert_int_equal(compiled_table_function(&m->table, &row), m->table.end + 1);
	row.start = m->table.start - 1;
	assert_int_equal(compiled_table_function(&m->table, &row), m->table.start - 1);
	row.start = 0;
	assert_int_equal(compiled_table_function(&m->table, &row), 0);
	row.start = UINT64_MAX;
	assert_int_equal(compiled_table_function(&m->table, &row), UINT64_MAX);
}

static void equal_rules_that_follow_each_other_are_one_row(void **state)
{
	struct made *m = *state;

	begin(m, TEXT);
	put(m, TEXT, 5);
	put(m, TEXT + 4, 5);
	end(m, TEXT + 9);
	make(m);
	assert_rule(m, TEXT + 8, 5, TEXT, TEXT + 9, true);
}

/* All kinds of distances, and those next to them. */
static void rows_may_be_long(void **state)
{
	static const uint32_t sizes[] = {1,     2,     127,   128,  129,  255,  256,  257,
					 1023,  1024,  1025,  1151, 1152, 1153, 2047, 2048,
					 2049,  4095,  4096,  4097, 8191, 8192, 8193, 16383,
					 16384, 16385, 40000, 1,    1};
	const unsigned int count = sizeof(sizes) / sizeof(*sizes);
	struct made *m = *state;
	uint64_t at = TEXT + 3;

	begin(m, at);
	for (unsigned int i = 0; i < count; at += sizes[i++])
		put(m, at, i);
	end(m, at);
	make(m);
	at = TEXT + 3;
	for (unsigned int i = 0; i < count; at += sizes[i++]) {
		struct bobbin_rule rule = rule_of(i), found;

		for (uint64_t pc = at; pc < at + sizes[i]; pc++) {
			struct compiled_row row;

			assert_int_equal(compiled_table_find(&m->table, pc, &row), 0);
			assert_int_equal(compiled_table_rule(&m->table, &row, &found), 0);
			assert_true(bobbin_rule_equal(&rule, &found));
			assert_true(row.start >= at && row.start <= pc);
			assert_true(row.end > pc && row.end <= at + sizes[i]);
			assert_int_equal(row.begins, !i && row.start == at);
		}
	}
}

/* The densest text: each byte has a rule, and there are more of them than bytes count. */
static void rows_may_be_short(void **state)
{
	const uint32_t count = 24 << TABLE_CELL_SHIFT;
	struct made *m = *state;

	begin(m, TEXT);
	for (uint32_t i = 0; i < count; i++)
		put(m, TEXT + i, i * 7919 % 3001);
	end(m, TEXT + count);
	make(m);
	assert_true(m->table.entry_count > m->table.cell_count);
	for (uint32_t i = 0; i < count; i++)
		assert_rule(m, TEXT + i, i * 7919 % 3001, TEXT + i, TEXT + i + 1, !i);
}

static void rules_that_fit_in_no_word_are_kept(void **state)
{
	struct bobbin_rule wide[2] = {rule_of(1), rule_of(1)};
	struct made *m = *state;
	uint64_t word;

	wide[0].cfa.off = 12345;
	wide[1].cfa = (struct bobbin_place){.how = BOBBIN_HOW_IN_REG_MEM, .reg = 6, .off = -3};
	wide[1].plus = -1234;
	wide[1].flags = BOBBIN_RULE_SIGNAL;
	assert_int_equal(bobbin_rule_pack(&wide[0], &word), -ERANGE);
	begin(m, TEXT);
	put_rule(m, TEXT, &wide[0]);
	put(m, TEXT + 1, 1);
	put_rule(m, TEXT + 2, &wide[1]);
	put_rule(m, TEXT + 5, &wide[0]);
	end(m, TEXT + 7);
	make(m);
	assert_int_equal(m->table.wide_count, 3);
	assert_found(m, TEXT, &wide[0], TEXT, TEXT + 1, true);
	assert_rule(m, TEXT + 1, 1, TEXT + 1, TEXT + 2, false);
	assert_found(m, TEXT + 4, &wide[1], TEXT + 2, TEXT + 5, false);
	assert_found(m, TEXT + 6, &wide[0], TEXT + 5, TEXT + 7, false);
}

static void reasons_are_kept(void **state)
{
	struct bobbin_rule none = bobbin_rule_none(BOBBIN_REASON_ZERO_RA);
	struct made *m = *state;

	begin(m, TEXT);
	put_rule(m, TEXT, &none);
	end(m, TEXT + 7);
	make(m);
	assert_found(m, TEXT + 6, &none, TEXT, TEXT + 7, true);
}

static void functions_come_in_order(void **state)
{
	struct table_builder *b = &((struct made *)*state)->builder;
	uint8_t *data;
	uint64_t size;

	assert_int_equal(table_builder_make(b, &data, &size), -ENODATA);
	assert_int_equal(table_builder_begin(b, TEXT), 0);
	assert_int_equal(table_builder_begin(b, TEXT), -EINVAL);
	assert_int_equal(table_builder_end(b, TEXT + 1), -EINVAL);
	assert_int_equal(table_builder_row(b, TEXT, RULE_NONE), 0);
	assert_int_equal(table_builder_row(b, TEXT, RULE_NONE), -EINVAL);
	assert_int_equal(table_builder_end(b, TEXT), -EINVAL);
	assert_int_equal(table_builder_end(b, TEXT + 1), 0);
	assert_int_equal(table_builder_begin(b, TEXT), -EINVAL);
}

static void too_much_is_refused(void **state)
{
	struct made *m = *state;
	uint8_t *data;
	uint64_t size;

	begin(m, TEXT);
	put(m, TEXT, 1);
	end(m, TEXT + 1);
	begin(m, (uint64_t)1 << 60);
	put(m, (uint64_t)1 << 60, 1);
	end(m, ((uint64_t)1 << 60) + 1);
	assert_int_equal(table_builder_make(&m->builder, &data, &size), -ERANGE);
}

static void more_rows_than_the_limit_are_refused(void **state)
{
	struct made *m = *state;
	const uint32_t most = 4096 / TABLE_ROW_BYTES;

	m->builder.limit = 4096;
	begin(m, TEXT);
	for (uint32_t i = 0; i < most; i++)
		put(m, TEXT + i, i & 1);
	assert_int_equal(table_builder_row(&m->builder, TEXT + most, RULE_NONE), -E2BIG);
}

static void more_bytes_than_the_limit_are_refused(void **state)
{
	struct made *m = *state;
	uint8_t *data;
	uint64_t size;

	m->builder.limit = 4096;
	for (uint64_t i = 0; i < 2; i++) {
		const uint64_t start = TEXT + i * (2048u << TABLE_CELL_SHIFT);

		begin(m, start);
		put(m, start, 1);
		end(m, start + 1);
	}
	assert_int_equal(table_builder_make(&m->builder, &data, &size), -E2BIG);
	m->builder.limit = 1 << 20;
	make(m);
	/* its head and rules count, too */
	m->builder.limit = m->size - 1;
	assert_int_equal(table_builder_make(&m->builder, &data, &size), -E2BIG);
	m->builder.limit = m->size;
	assert_int_equal(table_builder_make(&m->builder, &data, &size), 0);
	free(data);
}

static void too_many_rules_are_refused(void **state)
{
	struct made *m = *state;
	uint8_t *data;
	uint64_t size;

	begin(m, TEXT);
	for (uint32_t i = 0; i < TABLE_MAX_RULES; i++)
		put(m, TEXT + i, i);
	end(m, TEXT + TABLE_MAX_RULES);
	assert_int_equal(table_builder_make(&m->builder, &data, &size), -ERANGE);
}

static void refused(const struct made *m, unsigned int at, uint8_t byte, enum bobbin_reason reason)
{
	uint8_t *copy = malloc(m->size);
	struct bobbin_error error;
	struct compiled_table table;

	assert_non_null(copy);
	memcpy(copy, m->data, m->size);
	copy[at] = byte;
	assert_int_equal(compiled_table_init(copy, m->size, &error, &table), -EBADMSG);
	assert_int_equal(error.reason, reason);
	free(copy);
}

static void bad_heads_are_refused(void **state)
{
	struct made *m = *state;
	struct compiled_table table;
	struct bobbin_error error;

	begin(m, TEXT);
	put(m, TEXT, 1);
	end(m, TEXT + 1);
	make(m);
	refused(m, 0, 'B', BOBBIN_REASON_TABLE_MAGIC);
	refused(m, TABLE_AT_VERSION, TABLE_VERSION - 1, BOBBIN_REASON_TABLE_VERSION);
	refused(m, TABLE_AT_VERSION, 9, BOBBIN_REASON_TABLE_VERSION);
	refused(m, TABLE_AT_MACHINE, 1, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_ID_LENGTH, TABLE_BUILD_ID_MAX + 1, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_CELLS, 0, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_CELLS, 2, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_END + 7, 1, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_ENTRIES + 3, 1, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_BLOCKS + 3, 1, BOBBIN_REASON_TABLE_HEAD);
	refused(m, TABLE_AT_WORDS + 3, 1, BOBBIN_REASON_TABLE_HEAD);
	for (uint64_t size = 0; size < m->size; size++)
		assert_int_equal(compiled_table_init(m->data, size, &error, &table), -EBADMSG);
}

/* Whatever the bytes are, lookups stay in the table, and a row holds what was asked for. */
static void damaged_tables_are_harmless(void **state)
{
	struct made *m = *state;
	uint64_t at = TEXT, seed = 1;
	unsigned int found = 0;

	for (unsigned int i = 0; i < 200; i++, at += 20 + i) {
		begin(m, at);
		for (unsigned int k = 0; k < 8; k++)
			put(m, at + k, i * k % 300);
		end(m, at + 10);
	}
	make(m);
	for (unsigned int round = 0; round < 20000; round++) {
		uint64_t place, pc = TEXT + (seed >> 20) % (at - TEXT);
		struct compiled_row row;
		uint8_t before;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		place = TABLE_HEAD_SIZE + (seed >> 33) % (m->size - TABLE_HEAD_SIZE);
		before = m->data[place];
		m->data[place] = (uint8_t)(seed >> 25);
		if (!compiled_table_find(&m->table, pc, &row)) {
			struct bobbin_rule rule;

			found++;
			assert_true(row.number < m->table.word_count + m->table.wide_count);
			compiled_table_rule(&m->table, &row, &rule);
		}
		if (round % 4)
			m->data[place] = before;
	}
	assert_true(found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_outside_are_functions_of_their_own, setup,
						teardown),
		cmocka_unit_test_setup_teardown(equal_rules_that_follow_each_other_are_one_row,
						setup, teardown),
		cmocka_unit_test_setup_teardown(rows_may_be_long, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_may_be_short, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_that_fit_in_no_word_are_kept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(reasons_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_come_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(too_much_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(more_rows_than_the_limit_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(more_bytes_than_the_limit_are_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(too_many_rules_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_heads_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_tables_are_harmless, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
