/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocation_load ROUNDS FILE - allocate and free all the time: of 16,384 blocks of 16 to 1,039 bytes one
 * after the other is replaced, below a stack of 20 frames, and a tenth of its bytes are written.
 *
 * Appends to FILE the CPU time that the process has taken, in milliseconds, and what it has
 * allocated, in bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCKS 16384
#define DEPTH 20
#define BATCH 1000

static void *blocks[BLOCKS];
static uint64_t random_bits = 1, allocated;

static uint64_t next_random(void)
{
	random_bits ^= random_bits << 13;
	random_bits ^= random_bits >> 7;
	random_bits ^= random_bits << 17;
	return random_bits;
}

static __attribute__((noipa)) void replace(void)
{
	uint64_t bits = next_random();
	size_t size = 16 + (bits >> 40) % 1024;
	void **block = &blocks[bits % BLOCKS];

	free(*block);
	*block = malloc(size);
	if (!*block)
		abort();
	memset(*block, 1, 1 + size / 10);
	allocated += size;
}

static __attribute__((noipa)) void descend(int depth)
{
	if (depth) {
		descend(depth - 1);
		/* no jump */
		__asm__ volatile("" ::: "memory");
		return;
	}
	for (int i = 0; i < BATCH; i++)
		replace();
}

int main(int argc, char **argv)
{
	long rounds = argc == 3 ? atol(argv[1]) : 0;
	FILE *out = argc == 3 ? fopen(argv[2], "a") : NULL;
	struct timespec used;

	if (!out)
		return 2;
	for (long i = 0; i < rounds; i++)
		descend(DEPTH);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	fprintf(out, "%ld %llu\n", used.tv_sec * 1000 + used.tv_nsec / 1000000,
		(unsigned long long)allocated);
	return fclose(out) ? 1 : 0;
}
