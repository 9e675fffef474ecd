/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crashed [DEPTH [MEGABYTES]] - two threads wait at the end of known chains, then main, which has
 * written to so much memory (0), writes to address 0, below DEPTH (10) calls of itself.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spin.h"

static int never[2];
static pthread_barrier_t both_run;

static NOINLINE void wait_for_bytes(void)
{
	char byte;

	if (read(never[0], &byte, 1) < 0)
		_exit(1);
	NO_TAIL_CALL();
}

static NOINLINE void *waiter(void *arg)
{
	pthread_barrier_wait(&both_run);
	wait_for_bytes();
	return arg;
}

static NOINLINE void descend(unsigned long depth)
{
	if (!depth)
		*(volatile int *)0 = 1;
	else
		descend(depth - 1);
	NO_TAIL_CALL();
}

static void *written(size_t size)
{
	void *memory = malloc(size);

	return memory ? memset(memory, 1, size) : NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 2 && !written(strtoul(argv[2], NULL, 0) << 20))
		return 1;
	if (pipe(never) || pthread_barrier_init(&both_run, NULL, 3) ||
	    pthread_create(&threads[0], NULL, waiter, NULL) ||
	    pthread_create(&threads[1], NULL, waiter, NULL))
		return 1;
	pthread_barrier_wait(&both_run);
	descend(argc > 1 ? strtoul(argv[1], NULL, 0) : 10);
	return 0;
}
