/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/stalls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#define DEADLINE_US 1000000
#define FILE_NS UINT64_C(3000000000)
#define MEMORY_NS UINT64_C(1000000000)
/* What is waited at least, and once somebody is in a hurry, with what time gives back. */
#define SHORT_NS UINT64_C(30000000)
#define HURRY_NS UINT64_C(260000000)

#define PATH 0x1234

static struct stalls fresh(void)
{
	return (struct stalls){.deadline_us = DEADLINE_US};
}

static void the_first_may_take_all(void **state)
{
	struct stalls s = fresh();

	assert_int_equal(stalls_limit_ns(&s, true), FILE_NS);
	assert_int_equal(stalls_limit_ns(&s, false), MEMORY_NS);
	assert_false(stalls_refuse(&s, getpid(), PATH));
}

static void the_others_share_what_is_left(void **state)
{
	struct stalls s = fresh();

	stalls_note_silence(&s, 0, 1, DEADLINE_US);
	assert_in_range(stalls_limit_ns(&s, true), FILE_NS / 2, FILE_NS * 2 / 3 + SHORT_NS);
	assert_in_range(stalls_limit_ns(&s, false), 1, SHORT_NS);
	for (uint64_t i = 2; i < 12; i++)
		stalls_note_silence(&s, 0, i, DEADLINE_US);
	assert_in_range(stalls_limit_ns(&s, true), 1, SHORT_NS);
	assert_int_equal(stalls_given_up(&s), 11);
}

static void who_is_in_a_hurry_waits_less(void **state)
{
	volatile sig_atomic_t hurry = 0;
	struct stalls s = fresh();

	s.hurry = &hurry;
	assert_int_equal(stalls_limit_ns(&s, true), FILE_NS);
	hurry = 1;
	assert_in_range(stalls_limit_ns(&s, true), 1, HURRY_NS);
	assert_in_range(stalls_limit_ns(&s, false), 1, HURRY_NS);
	stalls_note_silence(&s, 0, 1, DEADLINE_US);
	assert_in_range(stalls_limit_ns(&s, true), 1, SHORT_NS);
}

static void a_short_deadline_stays_as_it_is(void **state)
{
	struct stalls s = {.deadline_us = 1000};

	stalls_note_silence(&s, 0, 1, 1000);
	assert_int_equal(stalls_limit_ns(&s, false), 1000000);
}

static void what_was_silent_is_refused(void **state)
{
	struct stalls s = fresh();
	pid_t own = getpid();

	stalls_note_silence(&s, own, PATH, DEADLINE_US);
	assert_true(stalls_refuse(&s, own, PATH));
	assert_false(stalls_refuse(&s, own, PATH + 1));
	assert_false(stalls_refuse(&s, own, 0));
	assert_false(stalls_refuse(&s, getppid(), PATH));
	/* all files, but not memory */
	stalls_note_silence(&s, own, PATH + 1, DEADLINE_US);
	assert_true(stalls_refuse(&s, own, PATH + 2));
	assert_false(stalls_refuse(&s, own, 0));
}

/* Others of the same user are not asked either; root's are. */
static void a_user_is_refused_at_last(void **state)
{
	pid_t own = getpid(), parent = getppid();
	struct stalls s = fresh();

	for (uint64_t i = 1; i < 5; i++)
		stalls_note_silence(&s, own, i, DEADLINE_US);
	for (int i = 0; i < 4; i++)
		s.list[i].user = 54321;
	assert_false(stalls_refuse(&s, parent, 0));
	for (int i = 0; i < 4; i++)
		s.list[i].user = getuid();
	s.knows_shut_users = true;
	assert_int_equal(stalls_refuse(&s, parent, 0), getuid() != 0);
}

/* What had no whole deadline is asked again later, and when its place is needed. */
static void who_had_little_time_gets_another_chance(void **state)
{
	struct stalls s = fresh();

	stalls_note_silence(&s, 0, PATH, DEADLINE_US / 2);
	assert_true(stalls_refuse(&s, 0, PATH));
	s.list[0].until_us = 1;
	assert_false(stalls_refuse(&s, 0, PATH));
	stalls_note_silence(&s, 0, PATH, DEADLINE_US);
	s.list[1].until_us -= 1;
	assert_true(stalls_refuse(&s, 0, PATH));
	for (uint64_t i = 0; i < STALLS_MAX; i++)
		stalls_note_silence(&s, 0, PATH + 1 + i, DEADLINE_US);
	assert_false(stalls_refuse(&s, 0, PATH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_may_take_all),
		cmocka_unit_test(the_others_share_what_is_left),
		cmocka_unit_test(who_is_in_a_hurry_waits_less),
		cmocka_unit_test(a_short_deadline_stays_as_it_is),
		cmocka_unit_test(what_was_silent_is_refused),
		cmocka_unit_test(a_user_is_refused_at_last),
		cmocka_unit_test(who_had_little_time_gets_another_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
