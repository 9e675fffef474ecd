/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int loaded_library_open(const char *const *names, const struct library_function *functions,
			size_t count)
{
	void *library = NULL;

	for (; *names && !library; names++)
		library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -ELIBACC;
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return -ELIBACC;
		memcpy(functions[i].pointer, &function, sizeof(function));
	}
	return 0;
}
