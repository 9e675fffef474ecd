/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a queue's thread does, in which order, and when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sched.h>

#include "unwind/code_queue.h"

#define TASKS 4

static struct code_task tasks[TASKS];
static int order[TASKS];                 /* the thread's, until what was asked is done */
static uint64_t bytes[TASKS];            /* likewise */
static _Atomic int done_count;           /* tasks that the work has begun */
static _Atomic bool may_go, asks_to_end; /* the first task is held until then, or until the end */

static void work(struct code_task *task, struct code_means *means)
{
	int at = done_count;

	order[at] = (int)(task - tasks);
	bytes[at] = means->bytes;
	done_count = at + 1;
	while (!at && !may_go && !means->stop)
		sched_yield();
	asks_to_end = means->stop;
	means->bytes -= 1000;
}

static int begin(void **state)
{
	struct code_queue *q;

	for (int i = 0; i < TASKS; i++)
		tasks[i] = (struct code_task){0};
	done_count = 0;
	may_go = asks_to_end = false;
	assert_int_equal(code_queue_open(NULL, work, &q), 0);
	*state = q;
	return 0;
}

static int end(void **state)
{
	code_queue_close(*state);
	return 0;
}

/* The first one is begun at once, and held. */
static void ask_all(struct code_queue *q)
{
	assert_int_equal(code_queue_ask(q, &tasks[0]), 0);
	while (!done_count)
		sched_yield();
	for (int i = 1; i < TASKS; i++)
		assert_int_equal(code_queue_ask(q, &tasks[i]), 0);
}

static void what_walks_want_most_is_done_first(void **state)
{
	ask_all(*state);
	for (int i = 0; i < 3; i++)
		code_queue_await(*state, &tasks[2]);
	code_queue_await(*state, &tasks[3]);
	may_go = true;
	assert_true(code_queue_finish(*state, NULL));
	assert_int_equal(done_count, TASKS);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 3);
	assert_int_equal(order[3], 1);
	for (int i = 0; i < TASKS; i++)
		assert_true(code_queue_await(*state, &tasks[i]));
	assert_false(code_queue_finish(*state, NULL));
}

static void a_walk_goes_on_without(void **state)
{
	ask_all(*state);
	/* each waits once, and all of them a little */
	for (int i = 0; i < TASKS; i++)
		for (int k = 0; k < 100; k++)
			assert_false(code_queue_await(*state, &tasks[i]));
	may_go = true;
	assert_true(code_queue_finish(*state, NULL));
	assert_true(code_queue_await(*state, &tasks[0]));
}

static void what_is_not_done_at_the_end_is_never_done(void **state)
{
	ask_all(*state);
	code_queue_close(*state);
	assert_int_equal(done_count, 1);
	assert_true(asks_to_end);
	begin(state);
}

static void an_interrupted_wait_ends(void **state)
{
	const volatile sig_atomic_t interrupted = SIGINT;

	ask_all(*state);
	assert_true(code_queue_finish(*state, &interrupted));
	assert_int_equal(done_count, 1);
}

static void less_is_done_late(void **state)
{
	ask_all(*state);
	assert_int_equal(bytes[0], CODE_QUEUE_BYTES);
	may_go = true;
	code_queue_finish(*state, NULL);
	assert_in_range(bytes[TASKS - 1], 1, CODE_QUEUE_BYTES_LATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_walks_want_most_is_done_first, begin, end),
		cmocka_unit_test_setup_teardown(a_walk_goes_on_without, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_done_at_the_end_is_never_done, begin,
						end),
		cmocka_unit_test_setup_teardown(an_interrupted_wait_ends, begin, end),
		cmocka_unit_test_setup_teardown(less_is_done_late, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
