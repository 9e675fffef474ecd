/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/jit.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/deps.h"
#include "jit/jit_table.h"
#include "own_memory.h"

#define TEXT 0x400000ull
#define TEXT_SIZE 0x10000
#define HEAD sizeof(struct code_jit_unwind_table)
#define FRE sizeof(struct code_jit_unwind_fre)

static const struct bobbin_arch *host(void)
{
	return BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_s390x() : bobbin_arch_amd64();
}

static int look(const struct bobbin_arch *arch, const struct code_jit_info *info, uint64_t pc,
		struct bobbin_row *ret)
{
	const struct bobbin_mem mem = {read_own_memory, NULL};

	return jit_table_lookup(&(struct jit_chain){arch, info, &mem, NULL}, pc, ret);
}

static int writer_look(const struct bobbin_jit_writer *writer, uint64_t off, struct bobbin_row *ret)
{
	struct code_jit_info info;

	bobbin_jit_writer_info(writer, &info);
	return look(writer->arch, &info, TEXT + off, ret);
}

/* A function of one row. */
static int append(struct bobbin_jit_writer *writer, uint64_t off, uint32_t size,
		  struct bobbin_rule rule)
{
	const struct bobbin_sframe_row row = {0, rule};
	const struct bobbin_sframe_function function = {
		.start = TEXT + off, .size = size, .rows = &row, .count = 1};

	return bobbin_jit_writer_append(writer, &function);
}

static struct bobbin_rule any_rule(void)
{
	return bobbin_jit_rule_sp(host(), 176, 0, 0);
}

static void rows_come_back_as_they_were_appended(void **state)
{
	static uint64_t memory[64];
	const struct bobbin_rule rules[] = {
		bobbin_jit_rule_sp(host(), 8, 0, 0),
		bobbin_jit_rule_sp(host(), 1 << 20, -24, 0),
		bobbin_jit_rule_sp(host(), 32, 0, -16),
		bobbin_jit_rule_fp(host(), 16, 0, -16),
		bobbin_jit_rule_fp(host(), 160, -56, -48),
	};
	const struct bobbin_sframe_row rows[] = {
		{4, rules[0]}, {5, rules[1]}, {9, rules[2]}, {20, rules[3]}, {21, rules[4]}};
	const struct bobbin_sframe_function function = {
		.start = TEXT + 256, .size = 64, .rows = rows, .count = 5};
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory, sizeof(memory), &writer),
		0);
	assert_int_equal(writer_look(&writer, 256 + 4, &row), -ENOENT);
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), 0);
	assert_int_equal(writer_look(&writer, 256 + 3, &row), -ENOENT);
	assert_int_equal(writer_look(&writer, 256 + 64, &row), -ENOENT);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t end = i < 4 ? rows[i + 1].start : 64;

		for (uint32_t off = rows[i].start; off < end; off++) {
			assert_int_equal(writer_look(&writer, 256 + off, &row), 0);
			assert_int_equal(row.start, TEXT + 256 + rows[i].start);
			assert_int_equal(row.end, TEXT + 256 + end);
			assert_true(bobbin_rule_equal(&row.rule, &rules[i]));
		}
	}
}

static void signed_return_addresses_come_back(void **state)
{
	static uint64_t memory[64];
	const struct bobbin_arch *arch = BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_aarch64_be()
								: bobbin_arch_aarch64();
	struct bobbin_rule rule = bobbin_jit_rule_sp(arch, 32, -24, -32);
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(arch, TEXT, TEXT_SIZE, memory, sizeof(memory), &writer), 0);
	rule.flags = BOBBIN_RULE_MANGLED;
	assert_int_equal(append(&writer, 0, 16, rule), 0);
	assert_int_equal(writer_look(&writer, 0, &row), 0);
	assert_true(bobbin_rule_equal(&row.rule, &rule));
	rule.flags = BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B;
	assert_int_equal(append(&writer, 16, 16, rule), -ERANGE);
}

static void a_function_without_rows_is_outermost(void **state)
{
	static uint64_t memory[64];
	const struct bobbin_sframe_function function = {.start = TEXT + 16, .size = 16};
	struct bobbin_rule undefined = any_rule();
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory, sizeof(memory), &writer),
		0);
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), 0);
	undefined.ra = (struct bobbin_place){.how = BOBBIN_HOW_UNDEFINED};
	assert_int_equal(append(&writer, 32, 16, undefined), 0);
	for (uint64_t off = 16; off < 48; off += 16) {
		assert_int_equal(writer_look(&writer, off, &row), 0);
		assert_int_equal(row.start, TEXT + off);
		assert_int_equal(row.end, TEXT + off + 16);
		assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
	}
}

static void functions_out_of_order_or_place_are_refused(void **state)
{
	static uint64_t memory[64];
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory, sizeof(memory), &writer),
		0);
	assert_int_equal(append(&writer, (uint64_t)-1, 16, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 0, 0, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, TEXT_SIZE, 1, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 1, TEXT_SIZE, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 1, UINT32_MAX, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 64, 16, any_rule()), 0);
	assert_int_equal(append(&writer, 64, 16, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 79, 16, any_rule()), -EINVAL);
	assert_int_equal(append(&writer, 0, 16, any_rule()), -EINVAL);
	assert_int_equal(writer.head->used_len, FRE);
	assert_int_equal(append(&writer, 80, TEXT_SIZE - 80, any_rule()), 0);
	assert_int_equal(writer_look(&writer, TEXT_SIZE - 1, &row), 0);
}

static void rows_that_do_not_ascend_are_refused(void **state)
{
	static uint64_t memory[64];
	struct bobbin_sframe_row rows[] = {{0, any_rule()}, {8, any_rule()}, {8, any_rule()}};
	struct bobbin_sframe_function function = {
		.start = TEXT, .size = 16, .rows = rows, .count = 3};
	struct bobbin_jit_writer writer;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory, sizeof(memory), &writer),
		0);
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), -EINVAL);
	rows[2].start = 16;
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), -EINVAL);
	rows[2].start = 15;
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), 0);
}

static void rules_that_an_entry_cannot_hold_are_refused(void **state)
{
	static uint64_t memory[64];
	struct bobbin_rule rules[8];
	struct bobbin_sframe_function function = {.start = TEXT, .size = 16};
	struct bobbin_jit_writer writer;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory, sizeof(memory), &writer),
		0);
	for (unsigned int i = 0; i < 8; i++)
		rules[i] = any_rule();
	rules[0] = bobbin_rule_none(BOBBIN_REASON_CFI_EXPRESSION);
	rules[1].cfa.reg = 3;
	rules[2].cfa.how = BOBBIN_HOW_IN_REG_MEM;
	rules[3].fp = (struct bobbin_place){.how = BOBBIN_HOW_IN_REG_MEM, .off = -16};
	rules[4].flags = BOBBIN_RULE_SIGNAL;
	rules[5].ra = (struct bobbin_place){.how = BOBBIN_HOW_AT_REG, .reg = 1};
	rules[6].fp = (struct bobbin_place){.how = BOBBIN_HOW_AT_CFA, .off = -16};
	rules[7].fp = (struct bobbin_place){.how = BOBBIN_HOW_IN_CFA_MEM, .off = 0};
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(append(&writer, 0, 16, rules[i]), -ERANGE);
	function.signal = true;
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), -ERANGE);
	function.signal = false;
	function.rep_size = 16;
	assert_int_equal(bobbin_jit_writer_append(&writer, &function), -ERANGE);
	assert_int_equal(writer.head->used_len, 0);
	assert_int_equal(append(&writer, 0, 16, any_rule()), 0);
}

static void places_beyond_4_gib_are_refused(void **state)
{
	static uint64_t memory[64];
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, 1ull << 40, memory, sizeof(memory), &writer),
		0);
	assert_int_equal(append(&writer, (1ull << 32) - 16, 17, any_rule()), -ERANGE);
	assert_int_equal(append(&writer, (1ull << 32) - 16, 16, any_rule()), 0);
	assert_int_equal(append(&writer, 1ull << 32, 16, any_rule()), -ERANGE);
	assert_int_equal(writer_look(&writer, (1ull << 32) - 1, &row), 0);
}

static void bad_memory_and_text_are_refused(void **state)
{
	static uint64_t memory[64];
	const struct bobbin_arch *foreign = BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_amd64()
								   : bobbin_arch_s390x();
	struct bobbin_jit_writer writer = {.tables = 77};

	(void)state;
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, 0, memory, 512, &writer), -EINVAL);
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, -TEXT + 1, memory, 512, &writer),
			 -EINVAL);
	assert_int_equal(bobbin_jit_writer_init(foreign, TEXT, 1, memory, 512, &writer), -EINVAL);
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, 1, NULL, 512, &writer), -EINVAL);
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, 1, (char *)memory + 4, 100, &writer),
			 -EINVAL);
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, 1, memory, 47, &writer), -EINVAL);
	assert_int_equal(writer.tables, 77);
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, 1, memory, 48, &writer), 0);
}

static void a_full_table_is_followed_by_another(void **state)
{
	static uint64_t memory[JIT_MAX_TABLES][6];
	struct bobbin_jit_writer writer;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(bobbin_jit_writer_init(host(), TEXT, TEXT_SIZE, memory[0],
						sizeof(memory[0]), &writer),
			 0);
	for (unsigned int i = 0; i < JIT_MAX_TABLES; i++) {
		assert_int_equal(append(&writer, 16 * i, 16, any_rule()), 0);
		assert_int_equal(append(&writer, 16 * i + 16, 16, any_rule()), -ENOBUFS);
		for (unsigned int j = 0; j <= i; j++)
			assert_int_equal(writer_look(&writer, 16 * j, &row), 0);
		assert_int_equal(writer_look(&writer, 16 * i + 16, &row), -ENOENT);
		if (i + 1 < JIT_MAX_TABLES)
			assert_int_equal(
				bobbin_jit_writer_extend(&writer, memory[i + 1], sizeof(memory[0])),
				0);
	}
	assert_int_equal(bobbin_jit_writer_extend(&writer, memory[0], sizeof(memory[0])), -E2BIG);
}

static void a_table_of_its_own_memory_grows_without_end(void **state)
{
	const unsigned int count = 100000;
	struct bobbin_jit_table *table;
	struct code_jit_info info, later;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(bobbin_jit_table_open(host(), TEXT, (uint64_t)count * 16, &table), 0);
	bobbin_jit_table_info(table, &info);
	for (uint32_t i = 0; i < count; i++) {
		const struct bobbin_sframe_row r = {
			0, bobbin_jit_rule_sp(host(), 8 * (int32_t)i, 0, 0)};
		const struct bobbin_sframe_function function = {
			.start = TEXT + i * 16, .size = 16, .rows = &r, .count = 1};

		assert_int_equal(bobbin_jit_table_append(table, &function), 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(look(host(), &info, TEXT + i * 16 + 15, &row), 0);
		assert_int_equal(row.rule.cfa.off, 8 * i);
	}
	bobbin_jit_table_info(table, &later);
	assert_memory_equal(&info, &later, sizeof(info));
	bobbin_jit_table_close(table);
	bobbin_jit_table_close(NULL);
}

static void a_function_of_very_many_rows_gets_a_table_that_holds_it(void **state)
{
	const uint32_t count = 60000;
	struct bobbin_sframe_row *rows = calloc(count, sizeof(*rows));
	struct bobbin_sframe_function function = {
		.start = TEXT, .size = count, .rows = rows, .count = count};
	struct bobbin_jit_table *table;
	struct code_jit_info info;
	struct bobbin_row row;

	(void)state;
	assert_non_null(rows);
	assert_int_equal(bobbin_jit_table_open(host(), TEXT, TEXT_SIZE, &table), 0);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct bobbin_sframe_row){
			i, bobbin_jit_rule_sp(host(), 8 * (int32_t)i, 0, 0)};
	assert_int_equal(bobbin_jit_table_append(table, &function), 0);
	bobbin_jit_table_info(table, &info);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(look(host(), &info, TEXT + i, &row), 0);
		assert_int_equal(row.rule.cfa.off, 8 * i);
	}
	assert_int_equal(bobbin_jit_table_append(table, &function), -EINVAL);
	bobbin_jit_table_close(table);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back_as_they_were_appended),
		cmocka_unit_test(signed_return_addresses_come_back),
		cmocka_unit_test(a_function_without_rows_is_outermost),
		cmocka_unit_test(functions_out_of_order_or_place_are_refused),
		cmocka_unit_test(rows_that_do_not_ascend_are_refused),
		cmocka_unit_test(rules_that_an_entry_cannot_hold_are_refused),
		cmocka_unit_test(places_beyond_4_gib_are_refused),
		cmocka_unit_test(bad_memory_and_text_are_refused),
		cmocka_unit_test(a_full_table_is_followed_by_another),
		cmocka_unit_test(a_table_of_its_own_memory_grows_without_end),
		cmocka_unit_test(a_function_of_very_many_rows_gets_a_table_that_holds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
