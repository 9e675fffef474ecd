/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/process.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DEPTH 64

#define FRAME __attribute__((noinline, noclone))
/* After a call that is not to become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

static FRAME void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* Its section holds nothing else, so the linker says where it is. */
extern const char __start_outer_code[], __stop_outer_code[];

static FRAME __attribute__((section("outer_code"))) void outer(void)
{
	wait_for_ever();
	STAY();
}

static void *run_thread(void *unused)
{
	outer();
	return unused;
}

/* A copy of this process with two threads, both in outer(). */
static pid_t start(void)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, run_thread, NULL))
		_exit(1);
	outer();
	_exit(1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The letter of a thread's state in /proc. */
static char state_of(pid_t tid)
{
	char name[40], text[256], *at;
	FILE *file;
	size_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", tid);
	file = fopen(name, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	at = strrchr(text, ')');
	return at ? at[2] : 0;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int asleep(const struct bobbin_process *process, int **ret)
{
	int count = bobbin_process_threads(process, ret);

	for (int i = 0; i < count; i++)
		if (state_of((*ret)[i]) != 'S') {
			free(*ret);
			return 0;
		}
	return count;
}

/* Its threads, when both wait in outer(). */
static int *sleeping_threads(const struct bobbin_process *process)
{
	int *tids, count;

	while ((count = asleep(process, &tids)) != 2) {
		if (count == 1)
			free(tids);
		nap();
	}
	return tids;
}

static unsigned int count_outer(const struct bobbin_trace *trace)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		count += trace->frames[i].pc > (uintptr_t)__start_outer_code &&
			 trace->frames[i].pc <= (uintptr_t)__stop_outer_code;
	return count;
}

static void each_thread_has_its_whole_call_chain(void **state)
{
	struct bobbin_frame frames[DEPTH];
	struct bobbin_process *process;
	struct bobbin_place_info place;
	pid_t pid = start();
	int *tids;

	(void)state;
	assert_int_equal(bobbin_process_open(pid, NULL, &process), 0);
	tids = sleeping_threads(process);
	assert_int_equal(tids[0], pid);
	for (int i = 0; i < 2; i++) {
		struct bobbin_trace trace = {.frames = frames, .max = DEPTH};

		assert_int_equal(bobbin_process_unwind(process, tids[i], &trace), 0);
		assert_int_equal(trace.reason, BOBBIN_REASON_OUTERMOST);
		assert_int_equal(count_outer(&trace), 1);
		assert_int_equal(
			bobbin_space_find(bobbin_process_space(process), frames[0].pc, &place), 0);
		assert_non_null(strstr(place.mapping.path, "libc"));
	}
	assert_int_equal(bobbin_process_late(process), 0);
	free(tids);
	bobbin_process_close(process);
	end(pid);
}

static void unwinder_serves_several_processes(void **state)
{
	struct bobbin_process_options options = {.size = sizeof(options)};
	struct bobbin_frame frames[DEPTH];
	pid_t pids[2] = {start(), start()};
	struct bobbin_process *processes[2];

	(void)state;
	assert_int_equal(bobbin_unwinder_open(NULL, &options.unwinder), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(bobbin_process_open(pids[i], &options, &processes[i]), 0);
	for (int i = 0; i < 2; i++) {
		struct bobbin_trace trace = {.frames = frames, .max = DEPTH};

		free(sleeping_threads(processes[i]));
		assert_int_equal(bobbin_process_update(processes[i]), 0);
		assert_int_equal(bobbin_process_code_status(processes[i]), -ENOENT);
		assert_int_equal(bobbin_process_unwind(processes[i], pids[i], &trace), 0);
		assert_int_equal(count_outer(&trace), 1);
	}
	for (int i = 0; i < 2; i++) {
		bobbin_process_close(processes[i]);
		end(pids[i]);
	}
	bobbin_unwinder_close(options.unwinder);
}

static const char *plugin;

/* A copy of this process that waits in a library, which it loads when the pipe is written to. */
static pid_t start_loading(int in)
{
	void (*plugin_outer)(void (*)(void));
	char byte;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(in, &byte, 1) != 1)
		_exit(1);
	*(void **)&plugin_outer = dlsym(dlopen(plugin, RTLD_NOW), "plugin_outer");
	plugin_outer(outer);
	_exit(1);
}

static unsigned int count_plugin(struct bobbin_process *process, const struct bobbin_trace *trace)
{
	struct bobbin_place_info place;
	unsigned int count = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		count += !bobbin_space_find(bobbin_process_space(process), trace->frames[i].pc,
					    &place) &&
			 strstr(place.mapping.path, strrchr(plugin, '/'));
	return count;
}

static void library_that_is_loaded_after_the_update_is_walked_through(void **state)
{
	struct bobbin_frame frames[DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = DEPTH};
	struct bobbin_process *process;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = start_loading(ends[0]);
	assert_int_equal(bobbin_process_open(pid, NULL, &process), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	do {
		nap();
		assert_int_equal(bobbin_process_unwind(process, pid, &trace), 0);
	} while (!count_outer(&trace));
	assert_int_equal(trace.reason, BOBBIN_REASON_OUTERMOST);
	assert_int_equal(count_plugin(process, &trace), 2);
	bobbin_process_close(process);
	close(ends[0]);
	close(ends[1]);
	end(pid);
}

static void threads_of_others_are_refused(void **state)
{
	struct bobbin_trace trace = {0};
	struct bobbin_process *process;
	pid_t pid = start();

	(void)state;
	assert_int_equal(bobbin_process_open(pid, NULL, &process), 0);
	assert_int_equal(bobbin_process_unwind(process, getpid(), &trace), -ESRCH);
	end(pid);
	assert_int_equal(bobbin_process_unwind(process, pid, &trace), -ESRCH);
	assert_int_equal(bobbin_process_threads(process, NULL), -ESRCH);
	assert_int_equal(bobbin_process_update(process), -ESRCH);
	assert_int_equal(trace.count, 0);
	bobbin_process_close(process);

	assert_int_equal(bobbin_process_open(getpid(), NULL, &process), 0);
	assert_int_equal(bobbin_process_unwind(process, getpid(), &trace), -EPERM);
	bobbin_process_close(process);
	bobbin_process_close(NULL);
}

static void options_of_unknown_meaning_are_refused(void **state)
{
	struct {
		struct bobbin_process_options known;
		uint64_t tail;
	} options = {.known = {.size = sizeof(options)}, .tail = 1};
	struct bobbin_process *process = NULL;

	(void)state;
	assert_int_equal(bobbin_process_open(getpid(), &options.known, &process), -E2BIG);
	options.known.size = 0;
	assert_int_equal(bobbin_process_open(getpid(), &options.known, &process), -EINVAL);
	assert_null(process);
	options.known.size = sizeof(options);
	options.tail = 0;
	assert_int_equal(bobbin_process_open(getpid(), &options.known, &process), 0);
	bobbin_process_close(process);
}

/* A child that waits in vfork(2) until the pipe's other end is closed. */
static pid_t start_waiting(int in, int out)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(out);
	if (!vfork())
		_exit((int)read(in, &byte, 1));
	_exit(7);
}

static void thread_that_stops_late_runs_on(void **state)
{
	struct bobbin_process_options options = {.size = sizeof(options), .stop_ms = 1};
	struct bobbin_process *process;
	struct bobbin_trace trace = {0};
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = start_waiting(ends[0], ends[1]);
	while (state_of(pid) != 'D')
		nap();
	assert_int_equal(bobbin_process_open(pid, &options, &process), 0);
	assert_int_equal(bobbin_process_unwind(process, pid, &trace), -ETIMEDOUT);
	assert_int_equal(bobbin_process_late(process), 1);
	close(ends[1]);
	while (bobbin_process_late(process))
		nap();
	bobbin_process_close(process);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 7);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thread_has_its_whole_call_chain),
		cmocka_unit_test(unwinder_serves_several_processes),
		cmocka_unit_test(library_that_is_loaded_after_the_update_is_walked_through),
		cmocka_unit_test(threads_of_others_are_refused),
		cmocka_unit_test(options_of_unknown_meaning_are_refused),
		cmocka_unit_test(thread_that_stops_late_runs_on),
	};

	if (argc < 2)
		return 2;
	plugin = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
