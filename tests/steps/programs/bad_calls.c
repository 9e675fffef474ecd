/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls of and jumps to addresses that are no code, from frames of several shapes; handlers jump back. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

typedef long called(long);

static sigjmp_buf back;
volatile long sink;
static char data[64];
static called *volatile target;

static void on_fault(int number)
{
	sink = number;
	siglongjmp(back, 1);
}

NOINLINE long calls(called *f, long a)
{
	long r = f(a);

	return r + 1;
}

NOINLINE long tail_calls(long a)
{
	return target(a + 1);
}

NOINLINE long calls_with_frame(long a)
{
	volatile char room[200];

	room[a & 127] = 1;
	return target(a) + room[3];
}

NOINLINE long middle(called *f, long a)
{
	target = f;
	switch (a % 3) {
	case 0:
		return calls(f, a) + 2;
	case 1:
		return tail_calls(a) + 3;
	default:
		return calls_with_frame(a) + 4;
	}
}

NOINLINE void outer(called *f, long a)
{
	if (!sigsetjmp(back, 1))
		sink = middle(f, a);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault};
	char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *heap = malloc(100);
	void *addresses[] = {NULL, (void *)0x123, data, heap, gone, (void *)0x7ffffffff000};

	munmap(gone, 4096);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	for (long n = 0; n < 40; n++)
		for (unsigned int i = 0; i < 6; i++)
			outer((called *)addresses[i], n);
	return 0;
}
