/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_stack_bench [-q] - the own stack at several depths, by bobbin and its peers.
 *
 *	bobbin		bobbin_backtrace()
 *	libunwind	unw_backtrace()
 *	glibc		backtrace(), by libgcc's unwinder
 *	LLVM		_Unwind_Backtrace() of LLVM's libunwind.so.1, if it is installed
 *	pointers	a loop over frame pointers, without a check: the floor
 *
 * Nanoseconds for each frame, medians.  "hot": the stack is another one each
 * time, the code is the same; what walkers keep of rules helps.  "again": the same stack
 * many times; what they keep of stacks helps, too.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <bobbin/backtrace.h>

#define MAX_DEPTH 512
#define MAX_ROUNDS 2001
#define AGAIN 200

typedef unsigned int walk_fn(void);

static struct {
	walk_fn *walk;
	unsigned int frames;
	double ns; /* of the last walk, or of one of the last AGAIN */
	bool again;
} run;

static void *addresses[MAX_DEPTH];

static unsigned int by_bobbin(void)
{
	static struct bobbin_frame frames[MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = MAX_DEPTH};

	bobbin_backtrace(NULL, &trace);
	return trace.count;
}

static unsigned int by_libunwind(void)
{
	return (unsigned int)unw_backtrace(addresses, MAX_DEPTH);
}

/* Not libunwind's function of the same name. */
static int (*glibc_backtrace)(void **, int);

static unsigned int by_glibc(void)
{
	return (unsigned int)glibc_backtrace(addresses, MAX_DEPTH);
}

static struct {
	int (*backtrace)(int (*step)(void *context, void *arg), void *arg);
	uintptr_t (*ip)(void *context);
} llvm;

static int keep_address(void *context, void *arg)
{
	unsigned int *count = arg;

	if (*count == MAX_DEPTH)
		return 5; /* _URC_END_OF_STACK */
	addresses[(*count)++] = (void *)llvm.ip(context);
	return 0;
}

static unsigned int by_llvm(void)
{
	unsigned int count = 0;

	llvm.backtrace(keep_address, &count);
	return count;
}

static bool open_llvm(void)
{
	void *library = dlopen("libunwind.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);

	if (!library)
		return false;
	*(void **)&llvm.backtrace = dlsym(library, "_Unwind_Backtrace");
	*(void **)&llvm.ip = dlsym(library, "_Unwind_GetIP");
	return llvm.backtrace && llvm.ip;
}

/* As deep as the functions below, which keep frame pointers. */
static unsigned int wanted;

static __attribute__((noinline)) unsigned int by_pointers(void)
{
	uintptr_t *record = __builtin_frame_address(0);
	unsigned int count = 0;

	while (count <= wanted) {
		addresses[count++] = (void *)record[1];
		record = (uintptr_t *)record[0];
	}
	return count;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static __attribute__((noinline)) void measure(void)
{
	unsigned int times = run.again ? AGAIN : 1;
	double start = now();

	for (unsigned int i = 0; i < times; i++)
		run.frames = run.walk();
	run.ns = (now() - start) / times;
}

/* Two kinds of frames, in an order that @path says. */
static __attribute__((noinline)) int descend(unsigned int depth, uint64_t path);

static __attribute__((noinline)) int descend_far(unsigned int depth, uint64_t path)
{
	volatile char room[80];

	room[depth % sizeof(room)] = (char)depth;
	return descend(depth, path) + room[depth % sizeof(room)];
}

static int descend(unsigned int depth, uint64_t path)
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

/* What reading the clock costs is no part of a walk. */
static double clock_ns(void)
{
	double times[1001];

	for (unsigned int i = 0; i < 1001; i++) {
		double start = now();

		times[i] = now() - start;
	}
	qsort(times, 1001, sizeof(*times), by_value);
	return times[500];
}

static double median(walk_fn *walk, unsigned int depth, bool again, unsigned int rounds)
{
	static double times[MAX_ROUNDS];
	uint64_t path = 0x5bd1e9955bd1e995u;

	run.walk = walk;
	run.again = again;
	wanted = depth;
	for (unsigned int i = 0; i < rounds; i++) {
		/* frames of functions that ran before have other places in the next round */
		path = again ? path : path * 6364136223846793005u + 1442695040888963407u;
		descend(depth, path);
		times[i] = run.ns;
	}
	qsort(times, rounds, sizeof(*times), by_value);
	return (times[rounds / 2] - clock_ns() / (again ? AGAIN : 1)) / run.frames;
}

static void print_row(const char *name, walk_fn *walk, unsigned int rounds)
{
	static const unsigned int depths[] = {20, 50, 200};

	printf("%-10s", name);
	for (unsigned int again = 0; again < 2; again++)
		for (unsigned int i = 0; i < 3; i++)
			printf(" %9.2f",
			       median(walk, depths[i], again, again ? rounds / 10 : rounds));
	putchar('\n');
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 && !strcmp(argv[1], "-q") ? 201 : MAX_ROUNDS;

	*(void **)&glibc_backtrace = dlsym(dlopen("libc.so.6", RTLD_NOW), "backtrace");
	if (bobbin_backtrace_prepare() || !glibc_backtrace)
		return 2;
	printf("%-10s %9s %9s %9s %9s %9s %9s\n", "ns/frame", "hot 20", "hot 50", "hot 200",
	       "again 20", "again 50", "again 200");
	print_row("bobbin", by_bobbin, rounds);
	print_row("libunwind", by_libunwind, rounds);
	print_row("glibc", by_glibc, rounds / 10);
	if (open_llvm())
		print_row("LLVM", by_llvm, rounds / 10);
	else
		puts("LLVM       is not installed: libunwind.so.1");
	print_row("pointers", by_pointers, rounds);
	return 0;
}
