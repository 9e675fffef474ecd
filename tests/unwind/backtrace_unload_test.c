/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace_unload_test PLUGIN OTHER - walks through libraries that come and go.
 *
 * The two libraries have the same layout and other frames: the tables of one give
 * wrong chains in the other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../bare_clone.h"
#include "codemap/own_registry.h"
#include "own_chain.h"

struct plugin {
	void *handle;
	uint64_t base;
	void (*inner)(void (*f)(void));
	void (*outer)(void (*f)(void));
};

static const char *paths[2];
static struct own_chain chain;

static void plugin_open(unsigned int number, struct plugin *ret)
{
	struct link_map *map;

	ret->handle = dlopen(paths[number], RTLD_NOW | RTLD_LOCAL);
	if (!ret->handle)
		fail_msg("%s", dlerror());
	assert_int_equal(dlinfo(ret->handle, RTLD_DI_LINKMAP, &map), 0);
	ret->base = map->l_addr;
	*(void **)&ret->inner = dlsym(ret->handle, "plugin_inner");
	*(void **)&ret->outer = dlsym(ret->handle, "plugin_outer");
	assert_non_null(ret->inner);
	assert_non_null(ret->outer);
}

static void plugin_close(struct plugin *p)
{
	assert_int_equal(dlclose(p->handle), 0);
}

LINK void leaf(void)
{
	own_chain_init(&chain);
	bobbin_backtrace(NULL, &chain.trace);
	STAY();
}

LINK void leaf_here(void)
{
	own_chain_init(&chain);
	bobbin_backtrace_here(&chain.trace);
	STAY();
}

LINK void caller(const struct plugin *p, void (*f)(void))
{
	p->outer(f);
	STAY();
	own_chain_name(&chain);
}

static bool is_complete(const struct plugin *p, void (*f)(void))
{
	return own_chain_is(&chain, CHAIN(f, p->inner, p->outer, caller));
}

/* The walk stopped at the plugin and gave the reason: the trace has no wrong frame. */
static bool stopped_in(const struct plugin *p, void (*f)(void), enum bobbin_reason reason)
{
	return chain.count == 2 && chain.functions[0] == f && chain.functions[1] == p->inner &&
	       chain.trace.reason == reason;
}

static bool stopped(const struct plugin *p, enum bobbin_reason reason)
{
	return stopped_in(p, leaf, reason);
}

static void a_library_that_is_loaded_later_is_learned_at_once(void **state)
{
	struct plugin p;

	plugin_open(0, &p);
	caller(&p, leaf);
	assert_true(stopped(&p, BOBBIN_REASON_NO_MAPPING));
	caller(&p, leaf_here);
	assert_true(is_complete(&p, leaf_here));
	caller(&p, leaf);
	assert_true(is_complete(&p, leaf));
	plugin_close(&p);
}

static void another_library_in_its_place_is_noticed(void **state)
{
	struct plugin p, other;

	plugin_open(0, &p);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	caller(&p, leaf);
	assert_true(is_complete(&p, leaf));
	plugin_close(&p);

	plugin_open(1, &other);
	assert_int_equal(other.base, p.base);
	assert_ptr_equal(other.inner, p.inner);
	caller(&other, leaf);
	assert_true(stopped(&other, BOBBIN_REASON_UNLOADED));
	caller(&other, leaf_here);
	assert_true(is_complete(&other, leaf_here));
	caller(&other, leaf);
	assert_true(is_complete(&other, leaf));
	plugin_close(&other);
}

static void the_same_library_in_its_place_is_learned_again(void **state)
{
	struct plugin p, again;

	plugin_open(0, &p);
	assert_int_equal(bobbin_backtrace_prepare(), 0);
	plugin_close(&p);
	plugin_open(0, &again);
	assert_int_equal(again.base, p.base);
	caller(&again, leaf_here);
	assert_true(is_complete(&again, leaf_here));
	plugin_close(&again);
}

static void both_libraries_at_once_are_told_apart(void **state)
{
	struct plugin p, other;

	plugin_open(0, &p);
	plugin_open(1, &other);
	caller(&p, leaf_here);
	assert_true(is_complete(&p, leaf_here));
	caller(&other, leaf_here);
	assert_true(is_complete(&other, leaf_here));
	plugin_close(&p);
	plugin_close(&other);
}

static void a_forked_child_learns_for_itself(void **state)
{
	struct plugin p;
	int status;
	pid_t child = fork();

	if (!child) {
		plugin_open(1, &p);
		caller(&p, leaf_here);
		if (!is_complete(&p, leaf_here))
			_exit(1);
		caller(&p, leaf);
		_exit(!is_complete(&p, leaf));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* As a malloc() that walks, inside of a registration. */
static void a_walk_does_not_wait_for_a_change_of_the_map(void **state)
{
	struct plugin p;

	assert_int_equal(bobbin_backtrace_prepare(), 0);
	plugin_open(0, &p);
	registry_lock(own_registry());
	caller(&p, leaf_here);
	registry_unlock(own_registry());
	assert_true(stopped_in(&p, leaf_here, BOBBIN_REASON_NO_MAPPING));
	caller(&p, leaf_here);
	assert_true(is_complete(&p, leaf_here));
	plugin_close(&p);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Walks that may not update the map themselves, until one is complete. */
static bool becomes_complete(const struct plugin *p)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	double start = now();

	do {
		caller(p, leaf);
		if (chain.trace.reason == BOBBIN_REASON_OUTERMOST)
			return is_complete(p, leaf);
		nanosleep(&pause, NULL);
	} while (now() - start < 10);
	return false;
}

static void a_worker_learns_by_itself(void **state)
{
	assert_int_equal(bobbin_backtrace_follow(), 0);
	assert_int_equal(bobbin_backtrace_follow(), 0);
	for (unsigned int i = 0; i < 20; i++) {
		struct plugin p;

		plugin_open(i & 1, &p);
		assert_true(becomes_complete(&p));
		plugin_close(&p);
	}
	bobbin_backtrace_unfollow();
	bobbin_backtrace_unfollow();
}

/*
 * GCC's address sanitizer gives a child the locks of its allocator as another thread had them, which
 * the worker has while it begins.
 */
static void let_the_worker_begin(void)
{
#ifdef __SANITIZE_ADDRESS__
	struct plugin p;

	plugin_open(0, &p);
	assert_true(becomes_complete(&p));
	plugin_close(&p);
#endif
}

static void a_child_can_follow_again(void **state)
{
	struct plugin p;
	int status;
	pid_t child;

	assert_int_equal(bobbin_backtrace_follow(), 0);
	let_the_worker_begin();
	child = fork();
	if (!child) {
		if (bobbin_backtrace_follow())
			_exit(1);
		plugin_open(0, &p);
		_exit(!becomes_complete(&p));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	bobbin_backtrace_unfollow();
}

/* The parent's thread does not exist in the child, which must not wait for it. */
static void a_child_that_nobody_told_of_can_do_the_same(void **state)
{
	struct plugin p;
	int status;
	pid_t child;

	assert_int_equal(bobbin_backtrace_follow(), 0);
	let_the_worker_begin();
	child = bare_clone();
	if (!child) {
		alarm(20);
		bobbin_backtrace_unfollow();
		if (bobbin_backtrace_follow())
			_exit(1);
		plugin_open(0, &p);
		_exit(!becomes_complete(&p));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	bobbin_backtrace_unfollow();
}

static void *follow_and_stop(void *arg)
{
	for (unsigned int i = 0; i < 200; i++) {
		if (bobbin_backtrace_follow())
			return arg;
		bobbin_backtrace_unfollow();
	}
	return NULL;
}

static void workers_begin_and_end_in_many_threads(void **state)
{
	pthread_t threads[4];
	void *failed;

	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, follow_and_stop, state), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

#define DESCRIPTORS 32

static atomic_bool ends;

/* Load and unload, so that the other library takes its place. */
static void *come_and_go(void *arg)
{
	for (unsigned int i = 0; !ends; i++) {
		struct plugin p;

		plugin_open(i & 1, &p);
		plugin_close(&p);
	}
	return arg;
}

/* The numbers with which a library was read are others' when what is known of it is dropped. */
static void keep_descriptors(int opened[DESCRIPTORS])
{
	for (unsigned int i = 0; i < DESCRIPTORS; i++)
		opened[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void close_descriptors(const int opened[DESCRIPTORS])
{
	for (unsigned int i = 0; i < DESCRIPTORS; i++)
		assert_int_equal(close(opened[i]), 0);
}

/* In a library that stays for the walk: complete, or it says why not. */
static void walks_are_never_wrong_while_libraries_come_and_go(void **state)
{
	unsigned int complete = 0, learned = 0;
	int opened[DESCRIPTORS];
	double start = now();
	pthread_t thread;

	assert_int_equal(bobbin_backtrace_follow(), 0);
	keep_descriptors(opened);
	assert_int_equal(pthread_create(&thread, NULL, come_and_go, NULL), 0);
	for (unsigned int i = 0; now() - start < 1.5; i++) {
		struct plugin p;

		plugin_open(i & 1, &p);
		caller(&p, leaf);
		if (chain.trace.reason == BOBBIN_REASON_OUTERMOST) {
			assert_true(is_complete(&p, leaf));
			complete++;
		} else {
			/* where a guess was needed beside code that was being unloaded, a right one */
			bool is_likely = chain.trace.reason == BOBBIN_REASON_LIKELY;

			if (!stopped(&p, BOBBIN_REASON_NO_MAPPING) &&
			    !stopped(&p, BOBBIN_REASON_UNLOADED))
				assert_true(is_likely &&
					    own_chain_begins(
						    &chain, CHAIN(leaf, p.inner, p.outer, caller)));
		}
		caller(&p, leaf_here);
		learned += chain.trace.reason == BOBBIN_REASON_OUTERMOST &&
			   is_complete(&p, leaf_here);
		plugin_close(&p);
	}
	ends = true;
	pthread_join(thread, NULL);
	bobbin_backtrace_unfollow();
	close_descriptors(opened);
	printf("# %u walks were complete at once, %u after learning\n", complete, learned);
	assert_true(learned > 0);
}

static int prepare(void **state)
{
	return bobbin_backtrace_prepare();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_that_is_loaded_later_is_learned_at_once),
		cmocka_unit_test(another_library_in_its_place_is_noticed),
		cmocka_unit_test(the_same_library_in_its_place_is_learned_again),
		cmocka_unit_test(both_libraries_at_once_are_told_apart),
		cmocka_unit_test(a_forked_child_learns_for_itself),
		cmocka_unit_test(a_walk_does_not_wait_for_a_change_of_the_map),
		cmocka_unit_test(a_worker_learns_by_itself),
		cmocka_unit_test(a_child_can_follow_again),
		cmocka_unit_test(a_child_that_nobody_told_of_can_do_the_same),
		cmocka_unit_test(workers_begin_and_end_in_many_threads),
		cmocka_unit_test(walks_are_never_wrong_while_libraries_come_and_go),
	};

	if (argc != 3)
		return 2;
	paths[0] = argv[1];
	paths[1] = argv[2];
	return cmocka_run_group_tests(tests, prepare, NULL);
}
