/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of addresses, and how much of one is in another.
 */
#include "base/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define RANGES 40
#define SPACE 256

static struct coverage set, other;

static int tear_down(void **state)
{
	coverage_fini(&set);
	coverage_fini(&other);
	return 0;
}

static void add(struct coverage *c, uint64_t start, uint64_t end)
{
	assert_int_equal(coverage_add(c, start, end), 0);
}

static void an_empty_set_has_no_addresses(void **state)
{
	assert_int_equal(coverage_bytes(&set), 0);
	add(&other, 0, 10);
	assert_int_equal(coverage_overlap(&set, &other), 0);
	assert_int_equal(coverage_overlap(&other, &set), 0);
	assert_int_equal(coverage_overlap(&set, &set), 0);
}

static void an_empty_range_adds_nothing(void **state)
{
	add(&set, 5, 5);
	add(&set, 7, 6);
	assert_int_equal(set.count, 0);
	assert_int_equal(coverage_bytes(&set), 0);
}

static void addresses_count_once(void **state)
{
	add(&set, 10, 20);
	add(&set, 15, 25);
	add(&set, 10, 20);
	add(&set, 12, 13);
	assert_int_equal(coverage_bytes(&set), 15);
}

static void ranges_that_touch_become_one(void **state)
{
	add(&set, 20, 30);
	add(&set, 0, 10);
	add(&set, 10, 20);
	assert_int_equal(coverage_bytes(&set), 30);
	assert_int_equal(set.count, 1);
}

static void more_can_be_added_after_counting(void **state)
{
	add(&set, 10, 20);
	assert_int_equal(coverage_bytes(&set), 10);
	add(&set, 0, 5);
	assert_int_equal(coverage_bytes(&set), 15);
	add(&set, 3, 12);
	assert_int_equal(coverage_bytes(&set), 20);
}

static void the_overlap_is_what_both_have(void **state)
{
	add(&set, 0, 10);
	add(&set, 20, 30);
	add(&set, 40, 50);
	add(&other, 5, 45);
	assert_int_equal(coverage_overlap(&set, &other), 20);
	assert_int_equal(coverage_overlap(&other, &set), 20);
	add(&other, 49, 100);
	assert_int_equal(coverage_overlap(&set, &other), 21);
}

static void the_last_addresses_are_in_reach(void **state)
{
	add(&set, UINT64_MAX - 10, UINT64_MAX);
	add(&set, 0, 1);
	add(&other, 1, UINT64_MAX);
	assert_int_equal(coverage_bytes(&set), 11);
	assert_int_equal(coverage_overlap(&set, &other), 10);
}

static int note_gap(void *ctx, uint64_t start, uint64_t end)
{
	struct bobbin_range **next = ctx;

	*(*next)++ = (struct bobbin_range){start, end};
	return 0;
}

static size_t gaps_within(uint64_t start, uint64_t end, struct bobbin_range *ret)
{
	struct bobbin_range *next = ret;

	assert_int_equal(coverage_gaps(&set, &(struct bobbin_range){start, end}, note_gap, &next),
			 0);
	return (size_t)(next - ret);
}

static void gaps_are_what_the_set_leaves_of_a_range(void **state)
{
	struct bobbin_range gaps[4];

	assert_int_equal(gaps_within(5, 9, gaps), 1);
	add(&set, 30, 40);
	add(&set, 10, 20);
	assert_int_equal(gaps_within(0, 50, gaps), 3);
	assert_int_equal(gaps[0].start, 0);
	assert_int_equal(gaps[0].end, 10);
	assert_int_equal(gaps[1].start, 20);
	assert_int_equal(gaps[1].end, 30);
	assert_int_equal(gaps[2].start, 40);
	assert_int_equal(gaps[2].end, 50);
	assert_int_equal(gaps_within(12, 35, gaps), 1);
	assert_int_equal(gaps_within(12, 18, gaps), 0);
	assert_int_equal(gaps_within(50, 50, gaps), 0);
}

static int refuse_gap(void *ctx, uint64_t start, uint64_t end)
{
	++*(int *)ctx;
	return 7;
}

static void a_sink_ends_the_gaps(void **state)
{
	int calls = 0;

	add(&set, 10, 20);
	assert_int_equal(coverage_gaps(&set, &(struct bobbin_range){0, 50}, refuse_gap, &calls), 7);
	assert_int_equal(calls, 1);
}

static void add_random(struct coverage *c, bool *members)
{
	uint64_t start = (uint64_t)(rand() % SPACE), end = start + (uint64_t)(rand() % 12);

	if (end > SPACE)
		end = SPACE;
	add(c, start, end);
	for (uint64_t i = start; i < end; i++)
		members[i] = true;
}

static void counts_are_those_of_the_members(void **state)
{
	srand(1);
	for (unsigned int round = 0; round < 200; round++) {
		bool members[2][SPACE] = {{false}};
		uint64_t bytes = 0, both = 0;

		for (unsigned int i = 0; i < RANGES; i++) {
			add_random(&set, members[0]);
			add_random(&other, members[1]);
		}
		for (unsigned int i = 0; i < SPACE; i++) {
			bytes += members[0][i];
			both += members[0][i] && members[1][i];
		}
		assert_int_equal(coverage_bytes(&set), bytes);
		assert_int_equal(coverage_overlap(&set, &other), both);
		tear_down(state);
	}
}

#define sentence(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		sentence(an_empty_set_has_no_addresses),
		sentence(an_empty_range_adds_nothing),
		sentence(addresses_count_once),
		sentence(ranges_that_touch_become_one),
		sentence(more_can_be_added_after_counting),
		sentence(the_overlap_is_what_both_have),
		sentence(the_last_addresses_are_in_reach),
		sentence(gaps_are_what_the_set_leaves_of_a_range),
		sentence(a_sink_ends_the_gaps),
		sentence(counts_are_those_of_the_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
