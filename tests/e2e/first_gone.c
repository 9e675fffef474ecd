/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * first_gone MS BEFORE_MS [relay|fork] - the first thread ends, after BEFORE_MS of its time; another
 * one, or one after another, or a process that it forks, works.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static long ms;
static int relays;
static int forks;

static NOINLINE void first_leaf(long time)
{
	spin(time);
	NO_TAIL_CALL();
}

static NOINLINE void other_leaf(long time)
{
	spin(time);
	NO_TAIL_CALL();
}

static NOINLINE void *other(void *arg)
{
	pthread_t next;

	if (forks && !fork()) {
		/* here this thread is the first one, and ends as well */
		forks = 0;
		pthread_create(&next, NULL, other, NULL);
		pthread_exit(NULL);
	}
	if (!relays) {
		other_leaf(ms);
		wait(NULL);
		_exit(0);
	}
	while (ms > 0 && relays) {
		other_leaf(20);
		ms -= 20;
		if (!pthread_create(&next, NULL, other, NULL))
			pthread_exit(NULL);
	}
	_exit(0);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	ms = ms_argument(argc, argv);
	relays = argc > 3 && !strcmp(argv[3], "relay");
	forks = argc > 3 && !strcmp(argv[3], "fork");
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	if (argc > 2 && atoi(argv[2]))
		first_leaf(atoi(argv[2]));
	pthread_exit(NULL);
}
