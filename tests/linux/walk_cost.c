/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_cost.c - what walks and registrations cost in the kernel.
 *
 *	walk_cost walks DEPTH	compute so many calls deep; prints the thread's CPU time
 *	walk_cost calls		register and unregister sections of several sizes
 *
 * Sampled or not, `walks` computes the same: the rest of the time is that of the walks.
 */
#include <stdio.h>
#include <time.h>

#include "called_code.h"

#define NOINLINE __attribute__((noinline, noclone))
#define TIMES 200
#define MANY 4096

static volatile unsigned long sink;

static uint64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

NOINLINE unsigned long f_leaf(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < n; i++)
		sum += (i * n) ^ (sum >> 3);
	return sum;
}

NOINLINE unsigned long f_deep(int depth)
{
	unsigned long sum = depth ? f_deep(depth - 1) : f_leaf(10000000);

	sink += sum;
	return sum + 1;
}

static void walks(int depth)
{
	uint64_t before = ns_of(CLOCK_THREAD_CPUTIME_ID);

	f_deep(depth);
	printf("%llu\n", (unsigned long long)(ns_of(CLOCK_THREAD_CPUTIME_ID) - before));
}

static void time_calls(uint32_t functions)
{
	struct called_code code = called_code_open(functions);
	size_t room = 4096 + (size_t)functions * 64, size;
	void *section = calloc(1, room);
	uint64_t adding = 0, removing = 0;

	promise(section);
	size = called_code_section(&code, section, room);
	for (int i = 0; i < TIMES; i++) {
		uint64_t start = ns_of(CLOCK_MONOTONIC), middle;

		promise(!called_code_register(&code, section, size));
		middle = ns_of(CLOCK_MONOTONIC);
		promise(!called_code_unregister(section));
		adding += middle - start;
		removing += ns_of(CLOCK_MONOTONIC) - middle;
	}
	printf("cost: %u functions, %zu bytes: registered in %llu ns, unregistered in %llu ns\n",
	       functions, size, (unsigned long long)adding / TIMES,
	       (unsigned long long)removing / TIMES);
	free(section);
	called_code_close(&code);
}

static unsigned long slab_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long kib = 0;
	char line[128];

	promise(file);
	while (fgets(line, sizeof(line), file) && sscanf(line, "Slab: %lu", &kib) != 1)
		;
	fclose(file);
	return kib << 10;
}

static void measure_memory(void)
{
	struct called_code code = called_code_open(MANY * 16);
	uint8_t *room = calloc(MANY, 256);
	unsigned long before;
	size_t size;

	promise(room);
	size = called_code_part(&code, 0, 1, room, 256);
	for (uint32_t n = 1; n < MANY; n++)
		memcpy(room + n * 256, room, size);
	before = slab_bytes();
	for (uint32_t n = 0; n < MANY; n++) {
		const struct sframe_setup setup = {.sframe_start = (uintptr_t)room + n * 256,
						   .sframe_size = size,
						   .text_start = (uintptr_t)code.text + n * 256,
						   .text_size = 256};

		promise(!guest_register(&setup, sizeof(setup)));
	}
	printf("cost: %lu bytes a section, of %d\n", (slab_bytes() - before) / MANY, MANY);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "walks")) {
		walks(atoi(argv[2]));
		return 0;
	}
	if (guest_register(NULL, 0) == ENOSYS)
		return 0;
	time_calls(1);
	time_calls(100);
	time_calls(10000);
	measure_memory();
	return 0;
}
