/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a queue's thread does, in which order, and when it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sched.h>

#include "base/clock.h"
#include "unwind/inference_queue.h"

#define REQUESTS 4

static struct infer_request requests[REQUESTS];
static int order[REQUESTS];      /* the thread's, until what was asked is done */
static uint64_t bytes[REQUESTS]; /* likewise */
static _Atomic int done_count;   /* requests that the work has begun */
static _Atomic bool may_go,
	asks_to_end; /* the first request is held until then, or until the end */

static void work(struct infer_request *request, struct infer_budget *budget)
{
	int at = done_count;

	order[at] = (int)(request - requests);
	bytes[at] = budget->bytes;
	done_count = at + 1;
	while (!at && !may_go && !budget->stop)
		sched_yield();
	asks_to_end = budget->stop;
	budget->bytes -= 1000;
}

static int begin(void **state)
{
	struct inference_queue *q;

	for (int i = 0; i < REQUESTS; i++)
		requests[i] = (struct infer_request){0};
	done_count = 0;
	may_go = asks_to_end = false;
	assert_int_equal(inference_queue_open(NULL, work, &q), 0);
	*state = q;
	return 0;
}

static int end(void **state)
{
	inference_queue_close(*state);
	return 0;
}

/* The first one is begun at once, and held. */
static void ask_all(struct inference_queue *q)
{
	assert_int_equal(inference_queue_ask(q, &requests[0]), 0);
	while (!done_count)
		sched_yield();
	for (int i = 1; i < REQUESTS; i++)
		assert_int_equal(inference_queue_ask(q, &requests[i]), 0);
}

static void what_walks_want_most_is_done_first(void **state)
{
	ask_all(*state);
	for (int i = 0; i < 3; i++)
		inference_queue_await(*state, &requests[2]);
	inference_queue_await(*state, &requests[3]);
	may_go = true;
	assert_true(inference_queue_finish(*state, NULL));
	assert_int_equal(done_count, REQUESTS);
	assert_int_equal(order[1], 2);
	assert_int_equal(order[2], 3);
	assert_int_equal(order[3], 1);
	for (int i = 0; i < REQUESTS; i++)
		assert_true(inference_queue_await(*state, &requests[i]));
	assert_false(inference_queue_finish(*state, NULL));
}

static void a_walk_goes_on_without(void **state)
{
	ask_all(*state);
	/* each waits once, and all of them a little */
	for (int i = 0; i < REQUESTS; i++)
		for (int k = 0; k < 100; k++)
			assert_false(inference_queue_await(*state, &requests[i]));
	may_go = true;
	assert_true(inference_queue_finish(*state, NULL));
	assert_true(inference_queue_await(*state, &requests[0]));
}

static void what_is_not_done_at_the_end_is_never_done(void **state)
{
	ask_all(*state);
	inference_queue_close(*state);
	assert_int_equal(done_count, 1);
	assert_true(asks_to_end);
	begin(state);
}

static void an_interrupted_wait_ends(void **state)
{
	const volatile sig_atomic_t interrupted = SIGINT;

	ask_all(*state);
	assert_true(inference_queue_finish(*state, &interrupted));
	assert_int_equal(done_count, 1);
}

static void less_is_done_late(void **state)
{
	ask_all(*state);
	assert_int_equal(bytes[0], INFERENCE_QUEUE_BYTES);
	may_go = true;
	inference_queue_finish(*state, NULL);
	assert_in_range(bytes[REQUESTS - 1], 1, INFERENCE_QUEUE_BYTES_LATE);
}

/* Rests until it has used no more than its share of the time; the end ends them. */
static void a_small_share_makes_it_rest(void **state)
{
	inference_queue_share(*state, 1e-9);
	ask_all(*state);
	may_go = true;
	while (!requests[0].done)
		sched_yield();
	assert_false(inference_queue_next(*state, clock_now() + NS_PER_SECOND / 20));
	assert_int_equal(done_count, 1);
	inference_queue_finish(*state, NULL);
	assert_int_equal(done_count, REQUESTS);
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
		cmocka_unit_test_setup_teardown(a_small_share_makes_it_rest, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
