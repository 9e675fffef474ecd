/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unproved N [made] - call function N of unproved.S, in the file or in a copy made at run time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM 65536

extern char code_start[], code_end[];
void top1(void);
void top2(void);
void top3(void);
void top4(void);

static void (*const functions[])(void) = {top1, top2, top3, top4};

__attribute__((noinline)) void caller(unsigned int number, long distance)
{
	((void (*)(void))((char *)functions[number - 1] + distance))();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	long distance = 0;
	char *made;

	if (argc > 2) {
		made = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(made, code_start, (size_t)(code_end - code_start));
		distance = made - code_start;
	}
	caller((unsigned int)atoi(argv[1]), distance);
	return 0;
}
