/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loaded_library.h - a library that is loaded when it is first needed.
 *
 * Those that speak to a network load thirty others, which would take longer than most commands do,
 * and are not made to be unloaded.
 */
#ifndef BOBBIN_BASE_LOADED_LIBRARY_H
#define BOBBIN_BASE_LOADED_LIBRARY_H

#include <stddef.h>

/* A function by its name, and the pointer that is to lead to it. */
struct library_function {
	const char *name;
	void *pointer;
};

/*
 * Load the first of the libraries that is there, for good; @names ends with NULL.  0; -ELIBACC:
 * none is there, or one of the functions is not in it.
 */
int loaded_library_open(const char *const *names, const struct library_function *functions,
			size_t count);

#endif
