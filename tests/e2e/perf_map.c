/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_map MS [WHERE] [HOW] - code that /tmp/perf-PID.map calls "made" runs for so long.
 *
 * WHERE it is: anon, shared, memfd, shm, deleted, sysv; in files it is mapped twice, to write and
 * to run.  HOW: "removed": the map is gone after half of the time; "forked": a child runs it;
 * "parted": the parent goes on to "later" in its place, which it tells, while a child stays;
 * "threaded": another thread runs it, after the first one has ended; "own": a child has a map of
 * its own, "own".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

/* push %rbp; mov %rsp,%rbp; mov $20000000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const uint8_t made[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x2d, 0x31,
			       0x01, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
#define SIZE 4096

static char *code;
static const char *how;
static long ms;

#define IS(word) (!strcmp(how, word))

static int open_file(const char *where)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/bobbin-code-%d", strcmp(where, "shm") ? "." : "/dev/shm",
		 getpid());
	fd = !strcmp(where, "memfd") ? memfd_create("code", 0)
				     : open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	if (!strcmp(where, "deleted"))
		unlink(path);
	return fd;
}

/* Where to write the code. */
static char *map_code(const char *where)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd;

	if (!strcmp(where, "sysv")) {
		int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0700);

		code = shmat(id, NULL, SHM_EXEC);
		shmctl(id, IPC_RMID, NULL);
		return code;
	}
	if (!strcmp(where, "shared"))
		flags = MAP_SHARED | MAP_ANONYMOUS;
	if (!strcmp(where, "anon") || !strcmp(where, "shared"))
		return code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
	fd = open_file(where);
	if (fd < 0 || ftruncate(fd, SIZE))
		return MAP_FAILED;
	code = mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void tell(const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "a");
	fprintf(f, "%lx %zx %s\n", (unsigned long)code, sizeof(made), name);
	fclose(f);
}

static NOINLINE void run(long time)
{
	long end = thread_ms() + time;

	while (thread_ms() < end)
		((void (*)(void))code)();
}

static void *run_as_thread(void *arg)
{
	run(ms);
	_exit(0);
	return arg;
}

static void remove_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
}

static int run_forked(void)
{
	pid_t child;

	if (IS("parted"))
		run(ms);
	child = fork();
	if (!child && IS("own"))
		tell("own");
	if (child && IS("parted")) {
		code[sizeof(made) + 1] ^= 1;
		code[6]++;
		tell("later");
	}
	if (!child || IS("parted"))
		run(ms);
	if (!child && IS("own"))
		remove_map();
	return !child || wait(NULL) == child ? 0 : 1;
}

int main(int argc, char **argv)
{
	char *text = map_code(argc > 2 ? argv[2] : "anon");
	pthread_t thread;

	ms = ms_argument(argc, argv);
	how = argc > 3 ? argv[3] : "";
	if (text == MAP_FAILED || code == MAP_FAILED)
		return 1;
	memcpy(text, made, sizeof(made));
	tell("made");
	if (IS("forked") || IS("parted") || IS("own"))
		return run_forked();
	if (IS("threaded")) {
		pthread_create(&thread, NULL, run_as_thread, NULL);
		pthread_exit(NULL);
	}
	if (IS("removed")) {
		run(ms / 2);
		remove_map();
	}
	run(ms);
	return 0;
}
