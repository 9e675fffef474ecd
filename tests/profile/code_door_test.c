/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often a process is asked what code it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/code_door.h"

#define MS 1000000ull
#define START (1000 * MS)
#define COST (MS / 5)

/* Searches for a cause that there always is, in @time; the last of them was at *@last. */
static unsigned int searches_in(struct code_door *door, uint64_t *now, uint64_t time)
{
	unsigned int count = 0;

	for (uint64_t end = *now + time; *now < end; *now += MS) {
		code_door_note(door, door->generation, *now);
		if (*now < door->due)
			continue;
		code_door_miss(door, COST, *now);
		count++;
	}
	return count;
}

static void the_first_searches_follow_each_other_quickly(void **state)
{
	struct code_door door = {0};
	uint64_t now = START;

	assert_in_range(searches_in(&door, &now, 50 * MS), CODE_QUICK_SEARCHES,
			CODE_QUICK_SEARCHES + 1);
	assert_false(code_door_is_quick(&door));
}

static void searches_become_rare_while_nothing_is_mapped(void **state)
{
	struct code_door door = {0};
	uint64_t now = START;

	searches_in(&door, &now, 1000 * MS);
	/* each time after twice the time since the last mapping, then every ten seconds */
	assert_in_range(searches_in(&door, &now, 9000 * MS), 3, 4);
	assert_in_range(searches_in(&door, &now, 100000 * MS), 10, 12);
}

static void a_mapping_brings_the_next_search_forward(void **state)
{
	struct code_door door = {0};
	uint64_t now = START;

	searches_in(&door, &now, 30000 * MS);
	code_door_miss(&door, COST, now);
	assert_int_equal(door.due, now + CODE_LAST_WAIT);
	assert_int_equal(door.search, now + CODE_LAST_WAIT);
	now += 5000 * MS;
	code_door_note(&door, door.generation + 1, now);
	assert_in_range(door.due, 0, now);
	assert_int_equal(door.search, now + CODE_SEARCH_PAUSE);
}

static void what_is_mapped_all_the_time_costs_a_part_of_it_only(void **state)
{
	struct code_door door = {0};
	uint64_t now = START, taken = 0, end;

	searches_in(&door, &now, 100 * MS);
	for (end = now + 10000 * MS; now < end; now += MS) {
		code_door_note(&door, door.generation + 1, now);
		if (now < door.due)
			continue;
		code_door_miss(&door, COST, now);
		taken += COST;
	}
	assert_in_range(taken, 10000 * MS / CODE_SEARCH_FACTOR / 2,
			10000 * MS / CODE_SEARCH_FACTOR + COST);
}

static void what_is_there_is_read_at_its_own_pace(void **state)
{
	struct code_door door = {0};

	code_door_note(&door, 1, START);
	code_door_read(&door, 0, START);
	assert_true(door.open);
	assert_int_equal(door.due, START + CODE_READ_PAUSE);
	code_door_read(&door, MS, START + MS);
	assert_int_equal(door.due, START + MS + CODE_READ_FACTOR * MS);
	/* a mapping does not change that */
	code_door_note(&door, 2, START + 2 * MS);
	assert_int_equal(door.due, START + MS + CODE_READ_FACTOR * MS);
}

/* Questions for a cause that there always is, in @time; nothing is ever new. */
static unsigned int retries_in(struct code_door *door, uint64_t *now, uint64_t time)
{
	unsigned int count = 0;

	for (uint64_t end = *now + time; *now < end; *now += MS / 4) {
		if (*now < door->due)
			continue;
		code_door_retry(door, COST / 4, *now);
		count++;
	}
	return count;
}

static void a_question_in_vain_is_asked_again_soon_and_then_rarely(void **state)
{
	struct code_door door = {0};
	uint64_t now = START;

	/* after 2, 4, 8, 16, 32 and 50 ms */
	assert_in_range(retries_in(&door, &now, 64 * MS), 6, 6);
	assert_in_range(retries_in(&door, &now, 1000 * MS), 19, 21);
	/* nobody asks for a while */
	now += 500 * MS;
	assert_in_range(retries_in(&door, &now, 64 * MS), 6, 6);
	/* something is new */
	code_door_read(&door, COST, now);
	now = door.due;
	assert_in_range(retries_in(&door, &now, 30 * MS), 4, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_searches_follow_each_other_quickly),
		cmocka_unit_test(searches_become_rare_while_nothing_is_mapped),
		cmocka_unit_test(a_mapping_brings_the_next_search_forward),
		cmocka_unit_test(what_is_mapped_all_the_time_costs_a_part_of_it_only),
		cmocka_unit_test(what_is_there_is_read_at_its_own_pace),
		cmocka_unit_test(a_question_in_vain_is_asked_again_soon_and_then_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
