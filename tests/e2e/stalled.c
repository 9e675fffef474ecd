/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stalled MS THREADS FILLS - threads whose outer frames are in pages that a thread of the same
 * process fills by userfaultfd: FILLS 1: a little later; 0: never.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spin.h"

#define STACK_SIZE (1 << 18)
#define PAGE 4096ul
#define LEVELS 60
#define THREADS_MAX 64

struct stack {
	char *start, *kept; /* kept: what it had when its pages were taken away */
};

static struct stack stacks[THREADS_MAX];
static long ms, threads, fills;
static int faults;
static pthread_barrier_t all_started;

/* All pages above the one in use. */
static NOINLINE void take_away(struct stack *stack, const char *here)
{
	char *from = (char *)(((uintptr_t)here + 2 * PAGE) & ~(PAGE - 1));
	size_t offset = (size_t)(from - stack->start);

	memcpy(stack->kept + offset, from, STACK_SIZE - offset);
	madvise(from, STACK_SIZE - offset, MADV_DONTNEED);
}

static NOINLINE void innermost(struct stack *stack)
{
	long end = thread_ms() + ms;
	char here;

	while (thread_ms() < end) {
		take_away(stack, &here);
		spin(1);
	}
	NO_TAIL_CALL();
}

static NOINLINE void descend(struct stack *stack, int levels)
{
	char room[512];

	*(volatile char *)room = 1;
	if (levels)
		descend(stack, levels - 1);
	else
		innermost(stack);
	NO_TAIL_CALL();
}

/* Whoever starts a thread writes to the stack of another one. */
static void *run(void *arg)
{
	pthread_barrier_wait(&all_started);
	descend(arg, LEVELS);
	return arg;
}

static void fill(uint64_t address)
{
	uint64_t page = address & ~(PAGE - 1);

	for (long i = 0; i < threads; i++) {
		struct uffdio_copy copy = {.dst = page, .len = PAGE};
		uint64_t offset = page - (uintptr_t)stacks[i].start;

		if (offset >= STACK_SIZE)
			continue;
		copy.src = (uintptr_t)(stacks[i].kept + offset);
		ioctl(faults, UFFDIO_COPY, &copy);
	}
}

static void *serve(void *arg)
{
	struct uffd_msg message;

	while (read(faults, &message, sizeof(message)) == sizeof(message)) {
		if (!fills)
			continue;
		usleep(100);
		fill(message.arg.pagefault.address);
	}
	return arg;
}

static int start(struct stack *stack, pthread_t *thread)
{
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_attr_t attr;

	stack->start = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	stack->kept = calloc(1, STACK_SIZE);
	if (stack->start == MAP_FAILED || !stack->kept)
		return -1;
	/* what is there is not missing */
	memset(stack->start, 1, STACK_SIZE);
	range.range.start = (uintptr_t)stack->start;
	range.range.len = STACK_SIZE;
	if (ioctl(faults, UFFDIO_REGISTER, &range) || pthread_attr_init(&attr) ||
	    pthread_attr_setstack(&attr, stack->start, STACK_SIZE))
		return -1;
	return pthread_create(thread, &attr, run, stack);
}

int main(int argc, char **argv)
{
	struct uffdio_api api = {.api = UFFD_API};
	pthread_t started[THREADS_MAX], server;

	ms = ms_argument(argc, argv);
	threads = argc > 2 ? atol(argv[2]) : 1;
	fills = argc > 3 ? atol(argv[3]) : 1;
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (threads > THREADS_MAX || faults < 0 || ioctl(faults, UFFDIO_API, &api) ||
	    pthread_barrier_init(&all_started, NULL, (unsigned int)threads) ||
	    pthread_create(&server, NULL, serve, NULL))
		return 1;
	for (long i = 0; i < threads; i++)
		if (start(&stacks[i], &started[i]))
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	return 0;
}
