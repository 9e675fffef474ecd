/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* swapping MS A B - call work() of two libraries, mapped at the same address in turn. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

#define PLACE ((char *)0x600000000000)
#define PAGE 4096ul

struct library {
	int fd;
	unsigned long offset; /* of work() in the file */
};

/* Code is at the same offset in file and memory but for the bias of its segment. */
static int note_segment(struct dl_phdr_info *info, size_t size, void *ctx)
{
	unsigned long *addr = ctx;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		unsigned long at = *addr - info->dlpi_addr - p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || at >= p->p_memsz)
			continue;
		*addr = p->p_offset + at;
		return 1;
	}
	return 0;
}

static struct library open_library(const char *path)
{
	struct library l = {open(path, O_RDONLY), 0};
	void *handle = dlopen(path, RTLD_NOW);

	if (l.fd < 0 || !handle)
		exit(1);
	l.offset = (unsigned long)dlsym(handle, "work");
	if (!dl_iterate_phdr(note_segment, &l.offset))
		exit(1);
	return l;
}

static NOINLINE void call(const struct library *l)
{
	void (*work)(void (*)(long), long);

	if (mmap(PLACE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, l->fd,
		 (long)(l->offset & ~(PAGE - 1))) != PLACE)
		exit(1);
	work = (void (*)(void (*)(long), long))(PLACE + l->offset % PAGE);
	work(spin, 4);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	struct library libraries[2];
	long end;

	if (argc != 4)
		return 2;
	libraries[0] = open_library(argv[2]);
	libraries[1] = open_library(argv[3]);
	end = thread_ms() + atol(argv[1]);
	for (int i = 0; thread_ms() < end; i++)
		call(&libraries[i % 2]);
	return 0;
}
