/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* loader MS LIBRARY - load a library and let it work. */
#include <dlfcn.h>

#include "spin.h"

static NOINLINE int load(const char *path, long ms)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*work)(long) = library ? (void (*)(long))dlsym(library, "plugin_work") : NULL;

	if (!work)
		return 1;
	work(ms);
	if (dlclose(library))
		abort();
	return 0;
}

int main(int argc, char **argv)
{
	int failed = argc != 3 || load(argv[2], atol(argv[1]));

	NO_TAIL_CALL();
	return failed;
}
