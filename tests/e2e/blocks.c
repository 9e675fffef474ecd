/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blocks KIND - allocate so many bytes, in functions that are named after the share that lives on:
 *
 *	sizes	100 MiB each in blocks of 32, of 1,000 and of 1,000,000 bytes, of which half are freed
 *	calls	10 MiB by each function of the C library
 *	threads	10 MiB by each of 20 threads
 *	fork	10 MiB before fork(), which the child frees, then 20 MiB by the child; PROGRAM by exec
 *	wait	10 MiB, then wait for a file "go", then free them
 *	storm	threads that allocate for each other, open libraries and fork
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))
#define MIB (1024 * 1024)
/* After a call, so that it returns here and does not become a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")
#define THREADS 20

static void **kept;
static size_t kept_count;

static NOINLINE void *keep(void *block)
{
	if (!block)
		abort();
	/* a page that is written to is there */
	*(volatile char *)block = 1;
	kept[kept_count++] = block;
	return block;
}

static NOINLINE void keep_all(size_t bytes, size_t size)
{
	for (size_t i = 0; i < bytes / size; i++)
		keep(malloc(size));
}

static NOINLINE void keep_half(size_t bytes, size_t size)
{
	for (size_t i = 0; i < bytes / size; i++) {
		keep(malloc(size));
		if (i % 2)
			free(kept[--kept_count]);
	}
}

static NOINLINE void small_ones(void)
{
	keep_half(100 * MIB, 32);
	NO_TAIL_CALL();
}

static NOINLINE void middle_ones(void)
{
	keep_half(100 * MIB, 1000);
	NO_TAIL_CALL();
}

static NOINLINE void large_ones(void)
{
	keep_half(100 * MIB, 1000000);
	NO_TAIL_CALL();
}

static NOINLINE void by_calloc(void)
{
	for (int i = 0; i < 1024; i++)
		for (char *at = keep(calloc(10, 1024)), *end = at + 10240; ++at < end;)
			if (*at)
				abort();
}

static NOINLINE void by_realloc(void)
{
	for (int i = 0; i < 512; i++) {
		char *block = keep(realloc(NULL, 5120));

		memset(block, 7, 5120);
		block = realloc(block, 15360);
		if (!block || block[0] != 7 || block[5119] != 7)
			abort();
		kept[kept_count - 1] = block;
	}
}

static NOINLINE void by_alignment(void)
{
	for (int i = 0; i < 256; i++) {
		void *block;

		if (posix_memalign(&block, 256, 8192) || (uintptr_t)block % 256)
			abort();
		keep(block);
		if ((uintptr_t)keep(aligned_alloc(512, 8192)) % 512 ||
		    (uintptr_t)keep(memalign(1024, 8192)) % 1024 ||
		    (uintptr_t)keep(valloc(8192)) % 4096 || (uintptr_t)keep(pvalloc(8192)) % 4096)
			abort();
	}
	free(NULL);
}

static NOINLINE void *in_thread(void *arg)
{
	void **mine = malloc(1024 * sizeof(*mine));

	for (int i = 0; i < 1024; i++)
		mine[i] = malloc(10240);
	return mine;
}

static void by_threads(void)
{
	pthread_t threads[THREADS];
	void *mine;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &mine);
		keep(mine);
	}
}

static NOINLINE void before_fork(void)
{
	keep_all(10 * MIB, 5120);
	NO_TAIL_CALL();
}

static NOINLINE void in_child(char **program)
{
	while (kept_count)
		free(kept[--kept_count]);
	keep_all(20 * MIB, 5120);
	execvp(*program, program);
	abort();
}

static void with_child(char **program)
{
	pid_t child;

	before_fork();
	child = fork();
	if (!child)
		in_child(program);
	waitpid(child, NULL, 0);
}

static NOINLINE void waiting(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	keep_all(10 * MIB, 5120);
	fclose(fopen("ready", "w"));
	while (access("go", F_OK))
		nanosleep(&pause, NULL);
	while (kept_count)
		free(kept[--kept_count]);
}

static void *exchanged[256];

static NOINLINE void *storm_thread(void *arg)
{
	for (uintptr_t i = (uintptr_t)arg; i < 200000; i++) {
		void *block = malloc(16 + i % 3000);

		free(__atomic_exchange_n(&exchanged[i % 256], block, __ATOMIC_ACQ_REL));
		if (i % 20000)
			continue;
		dlclose(dlopen("libm.so.6", RTLD_NOW));
	}
	return NULL;
}

static void storm(void)
{
	pthread_t threads[THREADS];
	int status = 0;

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, storm_thread, (void *)i);
	for (int i = 0; i < 20 && !status; i++) {
		pid_t child = fork();

		if (!child) {
			free(malloc(1000000));
			_exit(0);
		}
		waitpid(child, &status, 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 256; i++)
		free(exchanged[i]);
	if (status)
		abort();
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	/* no block of the heap */
	kept = mmap(NULL, 8 * MIB * sizeof(*kept), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!strcmp(kind, "sizes")) {
		small_ones();
		middle_ones();
		large_ones();
	} else if (!strcmp(kind, "calls")) {
		by_calloc();
		by_realloc();
		by_alignment();
	} else if (!strcmp(kind, "threads")) {
		by_threads();
	} else if (!strcmp(kind, "fork")) {
		with_child(argv + 2);
	} else if (!strcmp(kind, "wait")) {
		waiting();
	} else if (!strcmp(kind, "storm")) {
		storm();
	} else {
		return 2;
	}
	return 0;
}
