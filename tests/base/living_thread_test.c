/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process whose first thread has ended: its memory and files are those of the others. */
#include "base/living_file.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <bobbin/backtrace.h>

#include "base/proc_maps.h"
#include "base/process_stat.h"
#include "codemap/own_mappings.h"

static const char word[] = "what is to be read";
static struct remote_process process;

static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Each thread starts the next one, and ends. */
static void *relay(void *arg)
{
	pthread_t next;

	usleep(200);
	while (pthread_create(&next, NULL, relay, NULL))
		usleep(200);
	pthread_detach(next);
	return arg;
}

static pid_t start(void *(*run)(void *), bool wait)
{
	pid_t pid = fork();
	pthread_t thread;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_create(&thread, NULL, run, NULL);
		pthread_detach(thread);
		pthread_exit(NULL);
	}
	assert_true(pid > 0);
	while (wait && process_state(pid) != 'Z')
		usleep(1000);
	return pid;
}

static int open_process(void **state)
{
	process.pid = start(*state ? relay : stay, true);
	return 0;
}

static int close_process(void **state)
{
	process_reader_close(process.reader);
	process.reader = NULL;
	kill(process.pid, SIGKILL);
	waitpid(process.pid, NULL, 0);
	return 0;
}

/* The mapping that holds @addr. */
struct wanted {
	uint64_t addr;
	struct proc_map found;
};

static int look(void *ctx, const struct proc_map *map)
{
	struct wanted *wanted = ctx;

	if (wanted->addr >= map->start && wanted->addr < map->end) {
		wanted->found = *map;
		wanted->found.path = NULL;
	}
	return 0;
}

static void read_all(void)
{
	struct wanted wanted = {.addr = (uintptr_t)word};
	char copy[sizeof(word)], path[96];
	int fd;

	assert_int_equal(process_read(&process, (uintptr_t)word, copy, sizeof(copy)), 0);
	assert_string_equal(copy, word);
	assert_int_equal(process_read(&process, 8, copy, sizeof(copy)), -EFAULT);
	assert_int_equal(proc_maps_read(&process, look, &wanted), 0);
	assert_true(wanted.found.end);
	snprintf(path, sizeof(path), "/proc/%d/exe", process.pid);
	fd = process_file_open(&process, path, 0, NULL);
	assert_true(fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/root/proc/self/cmdline", process.pid);
	fd = process_file_open(&process, path, 0, NULL);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(process_file_open(&process, "/proc/self/nothing", 0, NULL), -ENOENT);
}

static void another_thread_leads_in(void **state)
{
	read_all();
	assert_int_equal(process_reader_open(10000, &process.reader), 0);
	read_all();
}

static void threads_may_end_meanwhile(void **state)
{
	assert_int_equal(process_reader_open(10000, &process.reader), 0);
	for (int i = 0; i < 200; i++)
		read_all();
}

static int never(void *ctx, pid_t tid)
{
	++*(int *)ctx;
	return -ENOENT;
}

static void what_is_nowhere_is_asked_for_once_more_only(void **state)
{
	int count = 0;

	assert_int_equal(living_thread_try(process.pid, never, &count), -ENOENT);
	assert_int_equal(count, 2);
	count = 0;
	assert_int_equal(living_thread_try(getpid(), never, &count), -ENOENT);
	assert_int_equal(count, 1);
}

static void no_thread_is_left(void **state)
{
	pid_t pid = fork();
	uint64_t copy;

	if (!pid)
		_exit(0);
	while (process_state(pid) != 'Z')
		usleep(1000);
	process = (struct remote_process){.pid = pid};
	assert_int_equal(process_read(&process, (uintptr_t)word, &copy, sizeof(copy)), -ESRCH);
	assert_false(process_has_memory(pid));
	waitpid(pid, NULL, 0);
	assert_false(process_has_memory(pid));
	assert_int_equal(process_read(&process, (uintptr_t)word, &copy, sizeof(copy)), -ESRCH);
}

/* Its own mappings, and its own stack. */
static void *look_at_itself(void *arg)
{
	struct bobbin_frame frames[16];
	struct bobbin_trace trace = {.frames = frames, .max = 16};
	struct own_mappings maps[2];
	uint64_t code = (uintptr_t)look_at_itself;
	int failed = 0;

	while (process_state(getpid()) != 'Z')
		usleep(1000);
	for (int old = 0; old < 2; old++) {
		own_mappings_init(&maps[old]);
		maps[old].no_query = old;
		failed |= own_mappings_executable(&maps[old], code, code + 1) != 0;
		own_mappings_fini(&maps[old]);
	}
	failed |= bobbin_backtrace_prepare() != 0;
	bobbin_backtrace_here(&trace);
	failed |= trace.reason != BOBBIN_REASON_OUTERMOST || trace.count < 2;
	_exit(failed);
	return arg;
}

static void process_looks_at_itself(void **state)
{
	pid_t pid = start(look_at_itself, false);
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	static bool relays = true;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(another_thread_leads_in, open_process,
						close_process),
		cmocka_unit_test_prestate_setup_teardown(threads_may_end_meanwhile, open_process,
							 close_process, &relays),
		cmocka_unit_test_setup_teardown(what_is_nowhere_is_asked_for_once_more_only,
						open_process, close_process),
		cmocka_unit_test(no_thread_is_left),
		cmocka_unit_test(process_looks_at_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
