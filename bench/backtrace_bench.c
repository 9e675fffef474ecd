/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * backtrace_bench [-q] [COUNT] - the calls of other unwinders, of whoever has them in this process.
 *
 * Nanoseconds for each frame, medians, of _Unwind_Backtrace(), backtrace() and unw_backtrace() at
 * several depths; a walk each time from another stack, by the same code.  bench/bench-backtrace runs
 * it with libbobbin-backtrace.so and without.  COUNT: allocate so many blocks instead, from a stack 20
 * frames deep, for a heap profiler that walks at each.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unwind.h>

#define MAX_DEPTH 512
#define MAX_ROUNDS 1001
#define ALLOCATION_DEPTH 20

typedef int walk_fn(void);

static void *addresses[MAX_DEPTH];
static walk_fn *walk;
static int frames;
static double ns;

static _Unwind_Reason_Code take(struct _Unwind_Context *context, void *count)
{
	addresses[(*(int *)count)++] = (void *)_Unwind_GetIP(context);
	return *(int *)count == MAX_DEPTH ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static int by_callback(void)
{
	int count = 0;

	_Unwind_Backtrace(take, &count);
	return count;
}

static int by_execinfo(void)
{
	return backtrace(addresses, MAX_DEPTH);
}

/* libunwind also has a backtrace(), which must not stand before the C library's. */
static int (*libunwind_backtrace)(void **, int);

static int by_libunwind(void)
{
	return libunwind_backtrace(addresses, MAX_DEPTH);
}

static void *volatile block; /* or compilers leave it out */

static int allocate(void)
{
	block = malloc(64);
	free(block);
	return 1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static __attribute__((noinline)) void measure(void)
{
	double start = now();

	frames = walk();
	ns = now() - start;
}

/* Two kinds of frames, in an order that @path says. */
static __attribute__((noinline)) int descend(unsigned int depth, unsigned long path);

static __attribute__((noinline)) int descend_far(unsigned int depth, unsigned long path)
{
	volatile char room[80];

	room[depth % sizeof(room)] = (char)depth;
	return descend(depth, path) + room[depth % sizeof(room)];
}

static int descend(unsigned int depth, unsigned long path)
{
	volatile char room[24];

	room[depth % sizeof(room)] = (char)depth;
	if (!depth)
		measure();
	else if (path & 1)
		return descend_far(depth - 1, path >> 1 | path << 63) + room[0];
	else
		return descend(depth - 1, path >> 1 | path << 63) + room[0];
	return room[0];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(unsigned int depth, unsigned int rounds)
{
	static double times[MAX_ROUNDS];
	unsigned long path = 0x5bd1e9955bd1e995u;

	for (unsigned int i = 0; i < rounds; i++) {
		path = path * 6364136223846793005u + 1442695040888963407u;
		descend(depth, path);
		times[i] = ns / frames;
	}
	qsort(times, rounds, sizeof(*times), by_value);
	return times[rounds / 2];
}

/* What reading the clock costs is no part of a walk. */
static int nothing(void)
{
	return 1;
}

static double clock_ns(void)
{
	walk = nothing;
	return median(0, MAX_ROUNDS);
}

static void print_row(const char *name, walk_fn *fn, unsigned int rounds)
{
	static const unsigned int depths[] = {20, 50, 200};
	const double clock = clock_ns();

	walk = fn;
	printf("%-18s", name);
	for (unsigned int i = 0; i < 3; i++) {
		double each = median(depths[i], rounds);

		printf(" %9.1f", each - clock / frames);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 && !strcmp(argv[1], "-q") ? 101 : MAX_ROUNDS;

	if (argc > 1 && rounds == MAX_ROUNDS) {
		walk = allocate;
		for (long i = atol(argv[1]); i > 0; i--)
			descend(ALLOCATION_DEPTH, (unsigned long)i * 0x9e3779b97f4a7c15u);
		return 0;
	}
	dlopen("libunwind.so.8", RTLD_NOW | RTLD_GLOBAL);
	*(void **)&libunwind_backtrace = dlsym(RTLD_DEFAULT, "unw_backtrace");
	if (!libunwind_backtrace)
		return 2;
	print_row("_Unwind_Backtrace", by_callback, rounds);
	print_row("backtrace", by_execinfo, rounds);
	print_row("unw_backtrace", by_libunwind, rounds);
	return 0;
}
