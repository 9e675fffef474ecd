/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* threads MS - main and two more threads, each busy in functions of its own. */
#include <pthread.h>

#include "spin.h"

static long ms;

static NOINLINE void *first(void *arg)
{
	spin(ms);
	return arg;
}

static NOINLINE void *second(void *arg)
{
	spin(ms);
	return arg;
}

static NOINLINE void in_main(void)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	ms = ms_argument(argc, argv);
	if (pthread_create(&threads[0], NULL, first, NULL) ||
	    pthread_create(&threads[1], NULL, second, NULL))
		return 1;
	in_main();
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
