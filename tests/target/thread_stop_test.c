/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that do not stop at once: ptrace(2) is told to stop them later, or never. */
#include "target/thread.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

#define LIMIT_MS 50
#define NEVER UINT64_MAX

long __real_ptrace(enum __ptrace_request request, ...);
pid_t __real_waitpid(pid_t pid, int *status, int options);
long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *addr, void *data);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

static uint64_t stop_at; /* of clock_now(); 0: there is nothing to stop */

long __wrap_ptrace(enum __ptrace_request request, pid_t pid, void *addr, void *data)
{
	return request == PTRACE_INTERRUPT ? 0 : __real_ptrace(request, pid, addr, data);
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (stop_at && clock_now() >= stop_at) {
		__real_ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		stop_at = 0;
	}
	return __real_waitpid(pid, status, options);
}

static pid_t start(bool spins)
{
	volatile bool always = spins;
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		close(ready[1]);
		while (always)
			;
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

/* The result of a stop that takes effect after so many limits. */
static int stop_after(bool spins, uint64_t limits)
{
	struct stopped_thread thread;
	pid_t pid = start(spins);
	int r;

	stop_at = limits == NEVER ? NEVER : clock_now() + limits * LIMIT_MS * UINT64_C(1000000);
	r = thread_stop(pid, LIMIT_MS, &thread);
	stop_at = 0;
	if (!r)
		thread_release(&thread);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) != pid)
		;
	return r;
}

static void thread_without_a_processor_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(stop_after(true, 3), 0);
}

static void thread_that_waits_for_something_is_not(void **state)
{
	(void)state;
	assert_int_equal(stop_after(false, NEVER), -ETIMEDOUT);
}

static void thread_that_never_stops_is_given_up(void **state)
{
	(void)state;
	assert_int_equal(stop_after(true, NEVER), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_without_a_processor_is_waited_for),
		cmocka_unit_test(thread_that_waits_for_something_is_not),
		cmocka_unit_test(thread_that_never_stops_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
