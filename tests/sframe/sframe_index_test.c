/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An index changes only the time that lookups take.
 */
#include "sframe_contract.h"
#include "sframe_tables.h"

#define RANDOM_TABLES 300
#define RANDOM_PCS 2000

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* With every number of buckets from too few to more than functions. */
static void any_index_changes_nothing(const struct table *t)
{
	struct bobbin_sframe_view view = open_table(t);

	for (uint32_t count = 3; count < 2 * MAX_FUNCTIONS; count += 1 + count / 8)
		assert_true(index_obeys_contract(&view, count));
	close_view(&view);
}

static void no_index_is_built(const struct table *t)
{
	struct bobbin_sframe_view view = open_table(t);

	for (uint32_t count = 3; count < 2 * MAX_FUNCTIONS; count += 1 + count / 8)
		assert_false(index_obeys_contract(&view, count));
	close_view(&view);
}

static struct table even_table(size_t count)
{
	struct table t = {.version = 3, .addr = 0x400000, .count = count};

	for (size_t i = 0; i < count; i++) {
		t.start[i] = 0x3ffc00 + 16 * i;
		t.size[i] = i % 3 ? 16 : 9;
	}
	return t;
}

static void each_number_of_functions_can_have_an_index(void **state)
{
	for (size_t count = 1; count <= MAX_FUNCTIONS; count++) {
		struct table t = even_table(count);

		any_index_changes_nothing(&t);
	}
}

static void each_version_and_byte_order_can_have_an_index(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);

	for (t.version = 1; t.version <= 3; t.version++) {
		t.flags = t.version == 1 ? 0 : PCREL;
		t.abi = AMD64;
		any_index_changes_nothing(&t);
		t.abi = AARCH64_BE;
		any_index_changes_nothing(&t);
	}
}

static void skewed_starts_can_have_an_index(void **state)
{
	struct table t = {.version = 3, .addr = 0x400000, .count = 60};

	for (size_t i = 0; i < t.count; i++) {
		t.start[i] = 0x1000 + ((uint64_t)1 << i);
		t.size[i] = 1;
	}
	any_index_changes_nothing(&t);
	for (size_t i = 0; i < t.count; i++)
		t.start[i] = ((uint64_t)1 << 62) - ((uint64_t)1 << (t.count - 1 - i));
	any_index_changes_nothing(&t);
}

static void equal_starts_can_have_an_index(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);

	for (size_t i = 0; i < t.count; i++) {
		t.start[i] = 0x400000 + i / 5 * 32;
		t.size[i] = i % 5 == 2 ? 32 : 0;
	}
	any_index_changes_nothing(&t);
	for (size_t i = 0; i < t.count; i++)
		t.start[i] = 0x400000;
	any_index_changes_nothing(&t);
}

static void code_around_address_zero_can_have_an_index(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);

	t.addr = 0;
	for (size_t i = 0; i < t.count; i++)
		t.start[i] = 0x2000 * (uint64_t)i - 0x2000 * MAX_FUNCTIONS / 2;
	any_index_changes_nothing(&t);
}

static void functions_at_the_farthest_can_have_an_index(void **state)
{
	struct table t = even_table(3);

	t.start[0] = t.addr - ((uint64_t)1 << 62);
	t.start[2] = t.addr + ((uint64_t)1 << 62);
	any_index_changes_nothing(&t);
}

static void functions_beyond_the_farthest_have_no_index(void **state)
{
	struct table t = even_table(3);

	t.start[2] = t.addr + ((uint64_t)1 << 62) + 1;
	no_index_is_built(&t);
	t = even_table(3);
	t.start[0] = t.addr - ((uint64_t)1 << 62) - 1;
	no_index_is_built(&t);
}

static void starts_that_wrap_around_have_no_index(void **state)
{
	struct table t = even_table(4);

	t.start[2] = t.addr + ((uint64_t)1 << 63) - 1;
	no_index_is_built(&t);
	t.start[2] = t.addr + ((uint64_t)1 << 63);
	no_index_is_built(&t);
}

static void table_that_lies_about_its_order_has_no_index(void **state)
{
	for (size_t i = 0; i + 1 < MAX_FUNCTIONS; i++) {
		struct table t = even_table(MAX_FUNCTIONS);

		t.start[i] += 17;
		no_index_is_built(&t);
	}
}

static void unsorted_and_empty_sections_have_no_index(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);
	struct bobbin_sframe_view view = open_table(&t);

	view.sorted = false;
	assert_int_equal(bobbin_sframe_index_count(&view), 0);
	assert_false(index_obeys_contract(&view, 33));
	close_view(&view);
	t.count = 0;
	no_index_is_built(&t);
}

static void too_few_buckets_make_no_index(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);
	struct bobbin_sframe_view view = open_table(&t);

	for (uint32_t count = 0; count < 3; count++)
		assert_false(index_obeys_contract(&view, count));
	close_view(&view);
}

static void advised_number_of_buckets_grows_with_the_section(void **state)
{
	struct bobbin_sframe_view view = {.sorted = true};

	assert_int_equal(bobbin_sframe_index_count(&view), 0);
	view.num_fdes = 15;
	assert_int_equal(bobbin_sframe_index_count(&view), 0);
	for (view.num_fdes = 16; view.num_fdes < UINT32_MAX / 3; view.num_fdes *= 3) {
		uint32_t pieces = bobbin_sframe_index_count(&view) - 1;

		assert_int_equal(pieces & (pieces - 1), 0);
		assert_in_range(view.num_fdes / pieces, 2, 4);
	}
	view.num_fdes = UINT32_MAX;
	assert_int_equal(bobbin_sframe_index_count(&view), (1u << 30) + 1);
}

/* Gaps, empty functions, overlaps and, now and then, a start out of order. */
static struct table random_table(uint64_t *state)
{
	struct table t = even_table(1 + random_number(state) % MAX_FUNCTIONS);
	uint64_t start = t.addr - 0x800, wide = random_number(state) % 4 * 60 + 8;
	bool lies = random_number(state) % 4 == 0;

	for (size_t i = 0; i < t.count; i++) {
		t.start[i] = start;
		t.size[i] = (uint32_t)(random_number(state) % wide);
		start += random_number(state) % 3 * (random_number(state) % wide);
		start -= lies && random_number(state) % 16 == 0 ? 64 : 0;
	}
	return t;
}

static void random_pcs_get_the_same_answer(void **state)
{
	uint64_t random = 88172645463325252u;
	unsigned int with_index = 0;

	for (unsigned int i = 0; i < RANDOM_TABLES; i++) {
		struct table t = random_table(&random);
		struct bobbin_sframe_view view = open_table(&t), indexed = view;
		uint32_t buckets[40], count = 3 + (uint32_t)(random_number(&random) % 37);

		with_index += bobbin_sframe_view_index(&indexed, buckets, count) == 0;
		for (unsigned int k = 0; k < RANDOM_PCS; k++) {
			uint64_t pc = t.addr - 0x1000 + random_number(&random) % 0x6000;

			index_changes_nothing_at(&view, &indexed, pc);
		}
		close_view(&view);
	}
	assert_in_range(with_index, RANDOM_TABLES / 2, RANDOM_TABLES - 1);
}

static void few_functions_are_touched(void **state)
{
	struct table t = even_table(MAX_FUNCTIONS);
	struct bobbin_sframe_view view = open_table(&t);
	uint32_t count = bobbin_sframe_index_count(&view), buckets[MAX_FUNCTIONS];

	assert_in_range(count, 3, MAX_FUNCTIONS);
	assert_int_equal(bobbin_sframe_view_index(&view, buckets, count), 0);
	for (uint32_t i = 0; i <= view.index.last; i++)
		assert_in_range(buckets[i + 1] - buckets[i], 1, 8);
	assert_int_equal(buckets[view.index.last + 1], MAX_FUNCTIONS - 1);
	close_view(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_number_of_functions_can_have_an_index),
		cmocka_unit_test(each_version_and_byte_order_can_have_an_index),
		cmocka_unit_test(skewed_starts_can_have_an_index),
		cmocka_unit_test(equal_starts_can_have_an_index),
		cmocka_unit_test(code_around_address_zero_can_have_an_index),
		cmocka_unit_test(functions_at_the_farthest_can_have_an_index),
		cmocka_unit_test(functions_beyond_the_farthest_have_no_index),
		cmocka_unit_test(starts_that_wrap_around_have_no_index),
		cmocka_unit_test(table_that_lies_about_its_order_has_no_index),
		cmocka_unit_test(unsorted_and_empty_sections_have_no_index),
		cmocka_unit_test(too_few_buckets_make_no_index),
		cmocka_unit_test(advised_number_of_buckets_grows_with_the_section),
		cmocka_unit_test(random_pcs_get_the_same_answer),
		cmocka_unit_test(few_functions_are_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
