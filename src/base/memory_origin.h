/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory_origin.h - what a mapping is of, by the name that /proc/PID/maps or the kernel's
 * records give it.
 *
 *	""  //anon  [heap]  [anon:NAME]  /dev/zero  /SYSV…  /anon_hugepage   no file
 *	/memfd:NAME  /dev/shm/NAME                                           shared memory
 *	PATH (deleted)                                                       no longer there
 *	[vdso]  [vsyscall]                                                   the kernel's
 *	PATH                                                                 a file
 */
#ifndef BOBBIN_BASE_MEMORY_ORIGIN_H
#define BOBBIN_BASE_MEMORY_ORIGIN_H

#include <stdbool.h>
#include <string.h>

enum memory_origin {
	MEMORY_BARE,   /* nothing can be opened: anonymous, or shared without a file of its own */
	MEMORY_SHARED, /* a file in memory: compilers map it twice, to write and to run, but loaders
			* may have mapped an image */
	MEMORY_DELETED, /* the same, or a library that was replaced meanwhile */
	MEMORY_KERNEL,
	MEMORY_FILE,
};

static inline bool memory_name_begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static inline bool memory_name_is_deleted(const char *name)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(name);

	return len >= sizeof(deleted) && !strcmp(name + len + 1 - sizeof(deleted), deleted);
}

static inline enum memory_origin memory_origin(const char *name)
{
	if (memory_name_begins(name, "[vdso]") || memory_name_begins(name, "[vsyscall]"))
		return MEMORY_KERNEL;
	if (name[0] != '/' || memory_name_begins(name, "//anon") ||
	    memory_name_begins(name, "/dev/zero") || memory_name_begins(name, "/anon_hugepage") ||
	    memory_name_begins(name, "/SYSV"))
		return MEMORY_BARE;
	if (memory_name_begins(name, "/memfd:") || memory_name_begins(name, "/dev/shm/"))
		return MEMORY_SHARED;
	return memory_name_is_deleted(name) ? MEMORY_DELETED : MEMORY_FILE;
}

/* Whether a program may have made what is there while it ran: code of a compiler, a copy. */
static inline bool memory_may_be_made(const char *name)
{
	enum memory_origin origin = memory_origin(name);

	return origin != MEMORY_KERNEL && origin != MEMORY_FILE;
}

/* Whether the name tells of no file, so that what the process says of the memory counts. */
static inline bool memory_has_no_file(const char *name)
{
	return memory_may_be_made(name) && memory_origin(name) != MEMORY_DELETED;
}

#endif
