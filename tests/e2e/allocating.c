/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocating - blocks from several places, in two threads, and one that is used when it is freed.
 *
 * allocating wrong: the last is read after it was freed, which only a sanitizer lets pass.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 6
#define BLOCKS 100

__attribute__((noipa)) void *allocate(unsigned int depth, size_t size)
{
	void *block = depth ? allocate(depth - 1, size) : malloc(size);

	if (!block)
		abort();
	return block;
}

__attribute__((noipa)) void *reallocate(void *block, size_t size)
{
	block = realloc(block, size);
	if (!block)
		abort();
	return block;
}

static char *kept[2][BLOCKS];

static void *fill(void *of)
{
	char **blocks = of;

	for (unsigned int i = 0; i < BLOCKS; i++)
		blocks[i] = allocate(i % DEPTH, 100000);
	for (unsigned int i = 0; i < BLOCKS; i += 10)
		blocks[i] = reallocate(blocks[i], 200000);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;
	char *block;

	if (pthread_create(&other, NULL, fill, kept[1]))
		return 2;
	fill(kept[0]);
	pthread_join(other, NULL);
	block = allocate(DEPTH, 10);
	memset(block, 1, 10);
	free(block);
	if (argc > 1 && !strcmp(argv[1], "wrong"))
		return *(volatile char *)block;
	for (unsigned int i = 0; i < BLOCKS; i += 2)
		free(kept[i % 4 / 2][i]);
	return 0;
}
