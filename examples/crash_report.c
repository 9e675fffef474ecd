/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* crash_report - a thread overflows its stack, and all stacks are printed. */
#include <bobbin/crash.h>

#include <pthread.h>
#include <unistd.h>

static __attribute__((noinline)) int recurse(volatile int depth)
{
	return depth < 0 ? 0 : recurse(depth + 1) + depth;
}

static void *run(void *depth)
{
	*(int *)depth = recurse(*(int *)depth);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int depth = 0;

	if (bobbin_install_crash_handler(STDERR_FILENO, 0))
		return 2;
	if (pthread_create(&thread, NULL, run, &depth))
		return 2;
	return pthread_join(thread, NULL);
}
