/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits - threads that wait in functions of known names, and measure how long.
 *
 *	waits sleep	main sleeps
 *	waits pipe	two threads answer each other through pipes
 *	waits lock	a thread waits for a mutex that main holds
 *	waits share	two threads compute on one CPU
 *	waits again	main sleeps again and again, until it is killed
 *	waits forever	main waits until it is killed
 *
 * A line for each function: its name, how long calls took, how much CPU time they used (ns).
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define ROUNDS 40

struct stopwatch {
	const char *name;
	uint64_t wall, cpu;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void start(struct stopwatch *w)
{
	w->wall -= clock_ns(CLOCK_MONOTONIC);
	w->cpu -= clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void stop(struct stopwatch *w)
{
	w->cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	w->wall += clock_ns(CLOCK_MONOTONIC);
}

static void tell(const struct stopwatch *w)
{
	printf("%s %ju %ju\n", w->name, (uintmax_t)w->wall, (uintmax_t)w->cpu);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static NOINLINE void sleeps_long(struct stopwatch *w)
{
	start(w);
	pause_ms(300);
	stop(w);
}

static NOINLINE void sleeps_often(struct stopwatch *w)
{
	start(w);
	for (int i = 0; i < ROUNDS; i++)
		pause_ms(5);
	stop(w);
}

static void sleep_twice(void)
{
	struct stopwatch once = {"sleeps_long", 0, 0}, often = {"sleeps_often", 0, 0};

	sleeps_long(&once);
	sleeps_often(&often);
	tell(&once);
	tell(&often);
}

static int asked[2], answered[2];

static NOINLINE void waits_for_question(struct stopwatch *w)
{
	char byte;

	start(w);
	if (read(asked[0], &byte, 1) != 1)
		_exit(1);
	stop(w);
}

static NOINLINE void waits_for_answer(struct stopwatch *w)
{
	char byte;

	start(w);
	if (read(answered[0], &byte, 1) != 1)
		_exit(1);
	stop(w);
}

static void *answers(void *arg)
{
	struct stopwatch *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		waits_for_question(w);
		pause_ms(3);
		if (write(answered[1], "", 1) != 1)
			_exit(1);
	}
	return NULL;
}

static void ask_and_answer(void)
{
	struct stopwatch questions = {"waits_for_question", 0, 0},
			 answer = {"waits_for_answer", 0, 0};
	pthread_t thread;

	if (pipe(asked) || pipe(answered))
		_exit(1);
	pthread_create(&thread, NULL, answers, &questions);
	for (int i = 0; i < ROUNDS; i++) {
		pause_ms(3);
		if (write(asked[1], "", 1) != 1)
			_exit(1);
		waits_for_answer(&answer);
	}
	pthread_join(thread, NULL);
	tell(&questions);
	tell(&answer);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;

static NOINLINE void waits_for_lock(struct stopwatch *w)
{
	start(w);
	pthread_mutex_lock(&mutex);
	stop(w);
}

static NOINLINE void gives_lock_back(void)
{
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

static void *locks(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&held);
		waits_for_lock(arg);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&held);
	}
	return NULL;
}

static void hold_and_wait(void)
{
	struct stopwatch w = {"waits_for_lock", 0, 0};
	pthread_t thread;

	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&thread, NULL, locks, &w);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&held);
		pause_ms(5);
		gives_lock_back();
		pthread_barrier_wait(&held);
	}
	pthread_join(thread, NULL);
	tell(&w);
}

/* A third of a second of CPU time. */
static NOINLINE void computes(struct stopwatch *w)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 300000000;

	start(w);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		spin(1);
	stop(w);
}

static void *computes_too(void *arg)
{
	computes(arg);
	return NULL;
}

static void share_a_cpu(void)
{
	struct stopwatch one = {"computes", 0, 0}, other = {"computes", 0, 0};
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	pthread_create(&thread, NULL, computes_too, &other);
	computes(&one);
	pthread_join(thread, NULL);
	one.wall += other.wall;
	one.cpu += other.cpu;
	tell(&one);
}

static NOINLINE void waits_forever(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "sleep"))
		sleep_twice();
	else if (!strcmp(what, "pipe"))
		ask_and_answer();
	else if (!strcmp(what, "lock"))
		hold_and_wait();
	else if (!strcmp(what, "share"))
		share_a_cpu();
	else if (!strcmp(what, "again"))
		for (struct stopwatch w = {"sleeps_often", 0, 0};;)
			sleeps_often(&w);
	else
		waits_forever();
	return 0;
}
