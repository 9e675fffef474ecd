/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/own_usage.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* after those */
#include <cmocka.h>

#include "base/clock.h"

static void work(uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

static void it_counts_what_this_process_does(void **state)
{
	struct own_usage before, after;

	own_usage_read(&before);
	work(NS_PER_SECOND / 10);
	own_usage_read(&after);
	assert_true(after.cpu_ns >= before.cpu_ns + NS_PER_SECOND / 20);
	assert_true(after.resident >= (uint64_t)getpagesize());
	assert_true(after.files >= 3);
}

static void it_counts_children_that_run_and_that_have_ended(void **state)
{
	struct own_usage before, running, ended;
	char word;
	int done[2];
	pid_t child;

	assert_int_equal(pipe(done), 0);
	own_usage_read(&before);
	child = fork();
	if (!child) {
		work(NS_PER_SECOND / 5);
		_exit(write(done[1], "", 1) == 1 ? pause() : 1);
	}
	assert_true(child > 0);
	assert_int_equal(read(done[0], &word, 1), 1);
	own_usage_read(&running);
	assert_true(running.cpu_ns >= before.cpu_ns + NS_PER_SECOND / 10);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	own_usage_read(&ended);
	assert_true(ended.cpu_ns >= before.cpu_ns + NS_PER_SECOND / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_counts_what_this_process_does),
		cmocka_unit_test(it_counts_children_that_run_and_that_have_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
