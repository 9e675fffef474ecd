/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* starter MS - start threads and wait for each: much of it is clone3. */
#include <pthread.h>

#include "spin.h"

static void *run(void *argument)
{
	return argument;
}

static NOINLINE void start_threads(long ms)
{
	long end = thread_ms() + ms;
	pthread_t thread;

	while (thread_ms() < end)
		if (!pthread_create(&thread, NULL, run, NULL))
			pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	start_threads(ms_argument(argc, argv));
	return 0;
}
