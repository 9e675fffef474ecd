/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crashing_library - to be preloaded: libdw crashes for files of CRASH_SIZE bytes.
 *
 * Only who looks names up asks it for a build ID.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libelf.h>
#include <stdlib.h>
#include <sys/types.h>

#define CRASH_SIZE 777777

ssize_t dwelf_elf_gnu_build_id(Elf *elf, const void **build_id)
{
	ssize_t (*next)(Elf *, const void **);
	size_t size = 0;

	if (elf_rawfile(elf, &size) && size == CRASH_SIZE)
		abort();
	*(void **)&next = dlsym(RTLD_NEXT, "dwelf_elf_gnu_build_id");
	return next(elf, build_id);
}
