/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookups in long tables and among many rows: each function and each row is found, however
 * they are distributed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_tables.h"

static void in_function(const struct bobbin_sframe_view *view, uint64_t pc, uint64_t start)
{
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_lookup(view, pc, NULL, &row), 0);
	assert_int_equal(row.function, start);
}

static void in_none(const struct bobbin_sframe_view *view, uint64_t pc)
{
	struct bobbin_row row;

	assert_int_equal(bobbin_sframe_lookup(view, pc, NULL, &row), -ENOENT);
}

/* First and last byte of each function, and the bytes before and after it. */
static void all_are_found(const struct table *t)
{
	struct bobbin_sframe_view view = open_table(t);

	in_none(&view, t->start[0] - 1);
	for (size_t i = 0; i < t->count; i++) {
		uint64_t end = t->start[i] + t->size[i];

		in_function(&view, t->start[i], t->start[i]);
		in_function(&view, end - 1, t->start[i]);
		if (i + 1 == t->count || t->start[i + 1] != end)
			in_none(&view, end);
	}
	close_view(&view);
}

static void each_number_of_functions_is_searched_in_each_version(void **state)
{
	struct table t = {.addr = 0x400000};

	for (t.version = 1; t.version <= 3; t.version++) {
		for (t.count = 1; t.count <= MAX_FUNCTIONS; t.count++) {
			for (size_t i = 0; i < t.count; i++) {
				t.start[i] = 0x3ffc00 + 16 * i;
				t.size[i] = i % 3 ? 16 : 9;
			}
			all_are_found(&t);
		}
	}
}

static void skewed_starts_are_searched(void **state)
{
	struct table t = {.version = 3, .addr = 0x400000, .count = 60};

	for (size_t i = 0; i < t.count; i++) {
		t.start[i] = 0x1000 + (1ull << i);
		t.size[i] = 1;
	}
	all_are_found(&t);
	for (size_t i = 0; i < t.count; i++)
		t.start[i] = (1ull << 62) - (1ull << (t.count - 1 - i));
	all_are_found(&t);
}

static void giant_function_among_small_ones_is_found(void **state)
{
	for (size_t giant = 0; giant < MAX_FUNCTIONS; giant++) {
		struct table t = {.version = 3, .addr = 0x400000, .count = MAX_FUNCTIONS};
		uint64_t start = 0x1000;

		for (size_t i = 0; i < t.count; i++) {
			t.start[i] = start;
			t.size[i] = i == giant ? 0x40000000 : 1;
			start += t.size[i];
		}
		all_are_found(&t);
	}
}

static void code_on_both_sides_of_a_bare_section_is_found(void **state)
{
	struct table t = {.addr = 0, .count = MAX_FUNCTIONS};

	for (t.version = 1; t.version <= 3; t.version++) {
		for (size_t i = 0; i < t.count; i++) {
			t.start[i] = 0x2000 * (uint64_t)i - 0x2000 * MAX_FUNCTIONS / 2;
			t.size[i] = 0x100;
		}
		all_are_found(&t);
	}
}

static void table_that_lies_about_its_order_yields_no_wrong_function(void **state)
{
	struct table t = {.version = 3, .addr = 0x400000, .count = MAX_FUNCTIONS};
	struct bobbin_sframe_view view;

	for (size_t i = 0; i < t.count; i++) {
		t.start[i] = 0x1000 + 32 * (i * 37 % MAX_FUNCTIONS);
		t.size[i] = 16;
	}
	view = open_table(&t);
	for (uint64_t pc = 0xff0; pc < 0x1010 + 32 * MAX_FUNCTIONS; pc++) {
		struct bobbin_row row;
		int status = bobbin_sframe_lookup(&view, pc, NULL, &row);

		if (status)
			assert_int_equal(status, -ENOENT);
		else
			assert_true(pc - row.function < 16 && row.function % 32 == 0);
	}
	close_view(&view);
}

/* Row number @i: one to three words of one, two or four bytes; the first is @i. */
static void put_row(struct writer *w, unsigned int width, size_t i)
{
	unsigned int words = 1 + i % 7 / 3, shift = i % 11 / 4;

	put(w, 2 * i, width);
	put(w, shift << 5 | words << 1 | 1, 1);
	for (unsigned int k = 0; k < words; k++)
		put(w, k ? 0 : i, 1u << shift);
}

static void each_row_is_found(uint8_t abi, unsigned int fre_type, size_t count)
{
	struct writer w = {.big_endian = abi == AARCH64_BE}, rows = {.big_endian = w.big_endian};
	const struct section_spec s = {.version = 3};
	struct bobbin_sframe_view view;

	put_rows(&rows, &s,
		 &(struct func_spec){.num_fres = (uint32_t)count, .info = (uint8_t)fre_type});
	for (size_t i = 0; i < count; i++)
		put_row(&rows, 1u << fre_type, i);
	put_table_header(&w, 3, abi, 1, count, rows.pos);
	put_fde(&w, &s, &(struct func_spec){.start = 0x1000, .size = (uint32_t)(2 * count)}, 0);
	put_bytes(&w, rows.bytes, rows.pos);
	/* aarch64 gives the return address in its rows */
	w.bytes[6] = abi == AMD64 ? (uint8_t)-8 : 0;
	view = open_bytes(&w, 0);
	for (size_t i = 0; i < count; i++) {
		struct bobbin_row row;

		if (abi == AMD64 && 1 + i % 7 / 3 > 2)
			continue;
		assert_int_equal(bobbin_sframe_lookup(&view, 0x1001 + 2 * i, NULL, &row), 0);
		assert_int_equal(row.start, 0x1000 + 2 * i);
		assert_int_equal(row.end, 0x1002 + 2 * i);
		assert_int_equal(row.rule.cfa.off, i);
	}
	close_view(&view);
}

static void each_row_is_found_up_to_the_end_of_the_section(void **state)
{
	for (unsigned int fre_type = 0; fre_type <= 2; fre_type++) {
		for (size_t count = 1; count <= 120; count++) {
			each_row_is_found(AMD64, fre_type, count);
			each_row_is_found(AARCH64_LE, fre_type, count);
			each_row_is_found(AARCH64_BE, fre_type, count);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_number_of_functions_is_searched_in_each_version),
		cmocka_unit_test(skewed_starts_are_searched),
		cmocka_unit_test(giant_function_among_small_ones_is_found),
		cmocka_unit_test(code_on_both_sides_of_a_bare_section_is_found),
		cmocka_unit_test(table_that_lies_about_its_order_yields_no_wrong_function),
		cmocka_unit_test(each_row_is_found_up_to_the_end_of_the_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
