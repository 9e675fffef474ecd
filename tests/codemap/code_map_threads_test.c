/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers in threads and in a signal handler, against a writer that is never done.
 *
 * Each code says which range it is for, and forgets it when it is released: a
 * reader that is given a code of another range, or one that was released, knows.
 */
#include "codemap/code_map.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#define RANGES 4096
#define BASE 0x7f1200000000ull
#define STEP 0x1000ull
#define SIZE 0x800ull
#define CHANGES 20000
#define DEAD 1

static struct code_map *map;
static atomic_bool done;
static atomic_ulong found, wrong, in_handler;

static void release(struct code *code)
{
	atomic_store(&code->dropped, DEAD);
	free(code);
}

static uint64_t next_of(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* A range that is always there, and one that comes and goes. */
static void look(uint64_t *seed)
{
	unsigned int token = read_enter(code_map_readers(map));

	for (unsigned int i = 0; i < 8; i++) {
		uint64_t number = next_of(seed) % RANGES;
		uint64_t start = BASE + number * STEP;
		struct code *code = code_map_find(map, start + *seed % SIZE, NULL);

		if (code ? code->text_start != start || atomic_load(&code->dropped)
			 : number % 2 == 0)
			atomic_fetch_add(&wrong, 1);
		if (code)
			atomic_fetch_add_explicit(&found, 1, memory_order_relaxed);
		if (code_map_find(map, start + SIZE + *seed % (STEP - SIZE), NULL))
			atomic_fetch_add(&wrong, 1);
	}
	read_leave(code_map_readers(map), token);
}

static void on_profile(int signal)
{
	static _Thread_local uint64_t seed = 4242;

	look(&seed);
	atomic_fetch_add_explicit(&in_handler, 1, memory_order_relaxed);
}

static void *read_on(void *arg)
{
	uint64_t seed = (uintptr_t)arg;

	while (!atomic_load(&done))
		look(&seed);
	return NULL;
}

static int add(uint64_t number)
{
	struct code *code = calloc(1, sizeof(*code));
	uint64_t start = BASE + number * STEP;
	int r;

	assert_non_null(code);
	code->text_start = start;
	code->release = release;
	r = code_map_add(map, &(struct code_range){start, start + SIZE, code});
	if (r)
		free(code);
	return r;
}

static void change(uint64_t *seed)
{
	uint64_t number = (next_of(seed) % RANGES) | 1, start = BASE + number * STEP;

	if (add(number) == -EEXIST)
		assert_int_equal(
			code_map_remove(map, &(struct code_range){start, start + SIZE, NULL}), 0);
	if (*seed % 64 == 0)
		code_map_wait(map);
}

/* On a busy machine the readers may get no time while the writer makes its changes. */
static bool readers_have_seen_enough(void)
{
	return atomic_load(&found) > 10000 && atomic_load(&in_handler) > 10;
}

static void readers_see_each_range_or_none_and_never_one_that_was_released(void **state)
{
	struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[3];
	uint64_t seed = 99;

	assert_int_equal(code_map_open(&map), 0);
	for (uint64_t i = 0; i < RANGES; i += 2)
		assert_int_equal(add(i), 0);
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &often, NULL), 0);
	for (uintptr_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, (void *)(i + 7)), 0);
	for (unsigned int i = 0; i < CHANGES || !readers_have_seen_enough(); i++)
		change(&seed);
	atomic_store(&done, true);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	code_map_close(map);

	print_message("%lu ranges found, %lu walks in the handler\n", atomic_load(&found),
		      atomic_load(&in_handler));
	assert_int_equal(atomic_load(&wrong), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_each_range_or_none_and_never_one_that_was_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
