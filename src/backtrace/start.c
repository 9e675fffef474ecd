/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dlfcn.h>

#include "core/deps.h"
#include "unwind/object_walk.h"

__attribute__((constructor)) static void prepare(void)
{
	object_walk_prepare();
}

#ifndef __GLIBC__
/*
 * Such loaders do not tell a walk what has been loaded.  They look for a library in the same way
 * whoever asks, and never unload one.
 */
BOBBIN_API void *dlopen(const char *name, int flags)
{
	void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	void *handle = next ? next(name, flags) : NULL;

	if (handle)
		object_walk_prepare();
	return handle;
}
#endif
