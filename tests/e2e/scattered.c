/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* scattered MS COUNT - work with that many executable mappings. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "spin.h"

#define PAGE 4096ul

static NOINLINE void map_pages(long count)
{
	char *room = mmap(NULL, 2 * PAGE * (size_t)count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	for (long i = 0; i < count; i++)
		if (mmap(room + 2 * PAGE * (size_t)i, PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			exit(1);
}

static NOINLINE void work(long ms)
{
	spin(ms);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	map_pages(atol(argv[2]));
	work(atol(argv[1]));
	return 0;
}
