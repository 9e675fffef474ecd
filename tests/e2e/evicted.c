/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* evicted MS - a thread whose outer frames are in pages that are taken away all the time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

#define STACK_SIZE (1 << 20)
#define PAGE 4096
#define LEVELS 100

static char *stack;
static long ms;

/* The pages stay in the file, but the thread has to ask for them. */
static NOINLINE void take_away(const char *here)
{
	char *from = (char *)(((uintptr_t)here + 2 * PAGE) & ~(uintptr_t)(PAGE - 1));

	madvise(from, (size_t)(stack + STACK_SIZE - from), MADV_DONTNEED);
}

static NOINLINE void innermost(void)
{
	long end = thread_ms() + ms;
	char here;

	while (thread_ms() < end) {
		take_away(&here);
		spin(1);
	}
	NO_TAIL_CALL();
}

static NOINLINE void descend(int levels)
{
	char room[256];

	*(volatile char *)room = 1;
	if (levels)
		descend(levels - 1);
	else
		innermost();
	NO_TAIL_CALL();
}

static void *run(void *arg)
{
	descend(LEVELS);
	return arg;
}

int main(int argc, char **argv)
{
	int fd = memfd_create("stack", 0);
	pthread_attr_t attr;
	pthread_t thread;

	ms = ms_argument(argc, argv);
	if (fd < 0 || ftruncate(fd, STACK_SIZE))
		return 1;
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (stack == MAP_FAILED || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack, STACK_SIZE) ||
	    pthread_create(&thread, &attr, run, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
