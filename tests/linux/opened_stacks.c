/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * opened_stacks.c - stacks through a library that dlopen() loads, and whose section the program
 * itself registers, as it does those of all its libraries.
 *
 *	opened_stacks LIBRARY ROUNDS
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest_calls.h"

#define NOINLINE __attribute__((noinline, noclone))
#define PT_SFRAME 0x6474e554

static volatile unsigned long sink;

NOINLINE unsigned long f_leaf(unsigned long n)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 200000; i++)
		sum += (i * n) ^ (sum >> 3);
	return sum;
}

/* What the kernel has since exec() is EEXIST. */
static int register_object(struct dl_phdr_info *info, size_t size, void *registered)
{
	struct sframe_setup setup = {0};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_SFRAME) {
			setup.sframe_start = info->dlpi_addr + p->p_vaddr;
			setup.sframe_size = p->p_memsz;
		} else if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			setup.text_start = info->dlpi_addr + p->p_vaddr;
			setup.text_size = p->p_memsz;
		}
	}
	if (setup.sframe_start)
		*(int *)registered += !guest_register(&setup, sizeof(setup));
	return 0;
}

NOINLINE void f_open(const char *library, int rounds)
{
	void (*opened)(unsigned long (*leaf)(unsigned long), int rounds);
	void *handle = dlopen(library, RTLD_NOW);
	int registered = 0;

	if (!handle)
		exit(1);
	*(void **)&opened = dlsym(handle, "f_opened");
	dl_iterate_phdr(register_object, &registered);
	if (guest_register(NULL, 0) != ENOSYS && registered < 2)
		printf("opened: %d sections were registered\n", registered);
	opened(f_leaf, rounds);
	dlclose(handle);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		f_open(argv[1], atoi(argv[2]));
	sink++;
	return 0;
}
