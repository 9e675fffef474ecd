/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remapped HOW MS - a program that moves part of its text into other memory, at the same
 * addresses, as runtimes do that want it on huge pages: "anonymous", "shared" or "memfd" memory,
 * or a copy that is moved by "mremap".  "patched": of two pages, one differs from the file;
 * "forked": a child runs it.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

#define PAGED __attribute__((noipa, aligned(4096)))

/* Like spin(), all of which stays where it was. */
PAGED static void inner(volatile long *count)
{
	while (--*count)
		;
}

PAGED static void outer(volatile long *count)
{
	inner(count);
	NO_TAIL_CALL();
}

PAGED static void end(void)
{
	NO_TAIL_CALL();
}

#define IS(word) (!strcmp(how, word))

PAGED static void *map_at(void *at, size_t size, const char *how)
{
	int flags = at ? MAP_FIXED : 0, fd = -1;
	void *memory;

	if (IS("shared"))
		flags |= MAP_SHARED | MAP_ANONYMOUS;
	else if (IS("memfd"))
		flags |= MAP_SHARED;
	else
		flags |= MAP_PRIVATE | MAP_ANONYMOUS;
	if (IS("memfd"))
		fd = memfd_create("text", 0);
	if (fd >= 0 && ftruncate(fd, (off_t)size))
		_exit(1);
	memory = mmap(at, size, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	return memory;
}

PAGED static void move(char *from, size_t size, const char *how)
{
	static char kept[1 << 16];
	char *copy;

	memcpy(kept, from, size);
	copy = map_at(IS("mremap") ? NULL : from, size, how);
	memcpy(copy, kept, size);
	if (IS("patched"))
		copy[(char *)outer - from + 64] ^= 1;
	mprotect(copy, size, PROT_READ | PROT_EXEC);
	if (IS("mremap") && mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, from) != from)
		_exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long until = thread_ms() + (argc > 2 ? atol(argv[2]) : 500);

	move((char *)inner, (size_t)((char *)end - (char *)inner), how);
	if (IS("forked") && fork())
		return wait(NULL) < 0;
	while (thread_ms() < until) {
		volatile long count = 1000000;

		outer(&count);
	}
	return 0;
}
