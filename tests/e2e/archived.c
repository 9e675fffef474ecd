/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * archived FILE OFFSET ADDRESS MS - map a library that begins at an offset of a file, as loaders do
 * that do not unpack archives, and call the function at an address of it again and again.  The
 * library needs no relocations.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define SEGMENTS 16

static char *map_library(int fd, off_t base)
{
	Elf64_Phdr p[SEGMENTS];
	Elf64_Ehdr header;
	char *memory = mmap(0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || pread(fd, &header, sizeof(header), base) != sizeof(header) ||
	    header.e_phnum > SEGMENTS ||
	    pread(fd, p, sizeof(p), base + (off_t)header.e_phoff) != sizeof(p))
		exit(1);
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		size_t skip = p[i].p_vaddr % PAGE;
		int prot = (p[i].p_flags & PF_R ? PROT_READ : 0) |
			   (p[i].p_flags & PF_W ? PROT_WRITE : 0) |
			   (p[i].p_flags & PF_X ? PROT_EXEC : 0);

		if (p[i].p_type == PT_LOAD &&
		    mmap(memory + p[i].p_vaddr - skip, p[i].p_filesz + skip, prot,
			 MAP_PRIVATE | MAP_FIXED, fd,
			 base + (off_t)(p[i].p_offset - skip)) == MAP_FAILED)
			exit(1);
	}
	return memory;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * atol(argv[argc - 1]);
	void (*run)(unsigned long);
	char *memory;

	if (argc != 5)
		return 2;
	memory = map_library(open(argv[1], O_RDONLY), atol(argv[2]));
	run = (void (*)(unsigned long))(uintptr_t)(memory + strtoul(argv[3], NULL, 16));
	while (clock() < end)
		run(1000000);
	return 0;
}
