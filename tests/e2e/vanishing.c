/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vanishing MS WAY - processes that go away while walks of their stacks wait for pages.
 *
 * Each takes the pages of its outer frames away again and again, until it is killed (kill) or
 * calls execve() (exec) after a millisecond or two, and another one follows.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define PAGE 4096ul
#define LEVELS 100

static char *stack_end;

static NOINLINE void innermost(char **argv, int rounds)
{
	char here, *from = (char *)(((uintptr_t)&here + 2 * PAGE) & ~(PAGE - 1));

	for (int i = 0; i != rounds; i++) {
		madvise(from, (size_t)(stack_end - from), MADV_PAGEOUT);
		for (volatile int turn = 0; turn < 20000; turn++)
			;
	}
	if (argv)
		execv("/proc/self/exe", argv);
	NO_TAIL_CALL();
}

static NOINLINE void descend(char **argv, int rounds, int levels)
{
	char room[512];

	*(volatile char *)room = 1;
	if (levels)
		descend(argv, rounds, levels - 1);
	else
		innermost(argv, rounds);
	NO_TAIL_CALL();
}

/* Frames of main() are left alone. */
static NOINLINE void run(char **argv, int rounds)
{
	char here;

	stack_end = (char *)((uintptr_t)&here & ~(PAGE - 1));
	descend(argv, rounds, LEVELS);
}

static void kill_one(void)
{
	pid_t pid = fork();

	if (!pid)
		run(NULL, -1);
	usleep(1500);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* One process for all of the time, a program after the other. */
static void exec_next(long left, char **argv)
{
	char room[32];
	char *next[] = {argv[0], room, argv[2], NULL};

	snprintf(room, sizeof(room), "%ld", left - 1);
	run(next, 8);
}

int main(int argc, char **argv)
{
	long left = ms_argument(argc, argv);

	if (argc > 2 && !strcmp(argv[2], "exec")) {
		if (left > 0)
			exec_next(left, argv);
		return 0;
	}
	for (; left > 0; left--)
		kill_one();
	return 0;
}
