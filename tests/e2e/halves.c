/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * halves ROUNDS - sleep, and compute for as much time of the CPU, in turn, in two threads.  Each says
 * its number, how long that took, and how much it has computed, in nanoseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define PART_MS 20

static int rounds;

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static NOINLINE void sleeps(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PART_MS * 1000000l}, NULL);
	NO_TAIL_CALL();
}

static NOINLINE void computes(void)
{
	spin(PART_MS);
	NO_TAIL_CALL();
}

static NOINLINE void *in_turn(void *arg)
{
	long long wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < rounds; i++) {
		sleeps();
		computes();
	}
	wall = now(CLOCK_MONOTONIC) - wall;
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	printf("%ld %lld %lld\n", (long)syscall(SYS_gettid), wall, cpu);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? atoi(argv[1]) : 20;
	if (pthread_create(&thread, NULL, in_turn, NULL))
		return 1;
	in_turn(NULL);
	return pthread_join(thread, NULL);
}
