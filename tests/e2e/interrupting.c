/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A library to be preloaded: whoever opens a file perf.data to read it gets SIGINT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

static int open_real(const char *name, const char *path, int flags, mode_t mode)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT,
										     name);
	const char *slash = strrchr(path, '/');

	if (slash && !strcmp(slash, "/perf.data") && (flags & O_ACCMODE) == O_RDONLY)
		raise(SIGINT);
	return real(path, flags, mode);
}

#define DEFINE(name) \
	int name(const char *path, int flags, ...) \
	{ \
		va_list list; \
		mode_t mode = 0; \
		va_start(list, flags); \
		if (flags & (O_CREAT | O_TMPFILE)) \
			mode = va_arg(list, mode_t); \
		va_end(list); \
		return open_real(#name, path, flags, mode); \
	}

DEFINE(open)
DEFINE(open64)
