/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* asleep - main and two more threads, each blocked forever at the end of a known chain. */
#include <pthread.h>
#include <unistd.h>

#include "spin.h"

static int never[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static NOINLINE void wait_for_bytes(void)
{
	char byte;

	if (read(never[0], &byte, 1) < 0)
		_exit(1);
	NO_TAIL_CALL();
}

static NOINLINE void *reader(void *arg)
{
	wait_for_bytes();
	return arg;
}

static NOINLINE void *locker(void *arg)
{
	pthread_mutex_lock(&held);
	return arg;
}

static NOINLINE void doze(void)
{
	for (;;)
		pause();
}

int main(void)
{
	pthread_t threads[2];

	if (pipe(never) || pthread_mutex_lock(&held) ||
	    pthread_create(&threads[0], NULL, reader, NULL) ||
	    pthread_create(&threads[1], NULL, locker, NULL))
		return 1;
	doze();
	return 0;
}
