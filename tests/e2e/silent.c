/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * silent WHAT [MS] - memory that nobody fills: whoever reads it waits for this process, which
 * never answers (userfaultfd).  Runs until it is ended, or
 * for so many milliseconds.
 *
 *	page	a mapping of the name by which published code is found
 *	table	a page of registered code whose entries nobody fills
 *	stack	a thread whose caller's frame lies there
 *
 * Exit status 77: the kernel does not let us.
 */
#define _GNU_SOURCE
#include <bobbin/code_page.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spin.h"

#define SIZE 65536

static void keep_silent(void *memory, size_t size)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)memory, size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)) {
		perror("userfaultfd");
		exit(77);
	}
}

static void *file_memory(void)
{
	int fd = memfd_create(BOBBIN_CODE_PAGE_NAME, MFD_CLOEXEC);
	void *page;

	if (fd < 0 || ftruncate(fd, SIZE))
		exit(1);
	page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static void *bare_memory(void)
{
	void *page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void silent_page(void)
{
	keep_silent(file_memory(), SIZE);
}

static void silent_table(void)
{
	struct bobbin_code_page *page = file_memory();
	void *entries = bare_memory();

	*page = (struct bobbin_code_page){
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(*page),
		.entry_size = sizeof(struct bobbin_code_entry),
		.pid = (uint32_t)getpid(),
		.entries = (uintptr_t)entries,
		.entry_max = 16,
		.entry_count = 16,
	};
	page->magic = BOBBIN_CODE_PAGE_MAGIC;
	keep_silent(entries, SIZE);
}

static NOINLINE void *doze(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Only the lower half of the stack is ours: the outer frames are never filled again. */
static void silent_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char *stack = mmap(NULL, 4 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, 4 * SIZE) ||
	    pthread_create(&thread, &attributes, doze, NULL))
		exit(1);
	usleep(100000);
	keep_silent(stack, 4 * SIZE);
	madvise(stack, 4 * SIZE, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	FILE *ready;

	if (!strcmp(what, "page"))
		silent_page();
	else if (!strcmp(what, "table"))
		silent_table();
	else if (!strcmp(what, "stack"))
		silent_stack();
	else
		return 2;
	ready = fopen("ready", "w");
	if (!ready || fclose(ready))
		return 1;
	while (argc < 3)
		spin(1000);
	spin(atol(argv[2]));
	return 0;
}
