/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stacks.c - known stacks, in code without frame pointers: of a recursion, in threads, in
 * a signal handler on a stack of its own, in children of fork() and vfork(), and of calls of the
 * vDSO.
 *
 * Each other function that computes for a while is called f_leaf; stacks.awk knows its callers.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 20
#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

NOINLINE unsigned long f_leaf(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 200000; i++)
		sum += (i * n) ^ (sum >> 3);
	return sum;
}

NOINLINE unsigned long f_deep(int depth)
{
	unsigned long sum = depth ? f_deep(depth - 1) : f_leaf(3);

	sink += sum;
	return sum + 1;
}

NOINLINE void f_recursion(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += f_deep(DEPTH);
}

NOINLINE void *f_thread(void *rounds)
{
	f_recursion(*(int *)rounds);
	return NULL;
}

NOINLINE void f_threads(int rounds)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, f_thread, &rounds))
		_exit(1);
	pthread_join(thread, NULL);
	sink++;
}

static int handled;

NOINLINE void f_handler(int signal)
{
	(void)signal;
	f_recursion(handled);
	sink++;
}

NOINLINE void f_raise(void)
{
	raise(SIGUSR1);
	sink++;
}

NOINLINE void f_signals(int rounds)
{
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action = {.sa_handler = f_handler, .sa_flags = SA_ONSTACK};

	handled = rounds;
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		_exit(1);
	f_raise();
	sink++;
}

NOINLINE void f_fork(int rounds)
{
	pid_t child = fork();

	if (!child) {
		f_recursion(rounds);
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		_exit(1);
	sink++;
}

/* The child has its parent's memory, and so its sections. */
NOINLINE void f_vfork(int rounds)
{
	pid_t child = vfork();

	if (!child) {
		f_recursion(rounds);
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		_exit(1);
	sink++;
}

/* For some hundredths of a second: what a call costs depends on the machine's clock. */
NOINLINE void f_clock(int rounds)
{
	struct timespec begin, now;
	long long end;

	if (clock_gettime(CLOCK_MONOTONIC, &begin))
		_exit(1);
	end = begin.tv_sec * 1000000000ll + begin.tv_nsec + rounds * 10000000ll;
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec * 1000000000ll + now.tv_nsec < end);
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	int rounds = argc == 3 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "recursion"))
		f_recursion(rounds);
	else if (!strcmp(what, "threads"))
		f_threads(rounds);
	else if (!strcmp(what, "signals"))
		f_signals(rounds);
	else if (!strcmp(what, "fork"))
		f_fork(rounds);
	else if (!strcmp(what, "vfork"))
		f_vfork(rounds);
	else if (!strcmp(what, "clock"))
		f_clock(rounds);
	else
		return 2;
	return 0;
}
