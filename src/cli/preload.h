/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * preload.h - a library of bobbin's own that the dynamic loader loads into a command.
 */
#ifndef BOBBIN_CLI_PRELOAD_H
#define BOBBIN_CLI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

/* What the environment of the command has more. */
struct preload {
	char library[PATH_MAX];
	const char *variable, *value;
};

/*
 * Find the library of this name, such as "libbobbin-sampler.so": beside the folder of the command
 * that runs, where one is built, or where libraries are installed.  false after a complaint.
 */
bool preload_find(const char *name, struct preload *ret);

/* The same, without a word. */
bool preload_exists(const char *name);

/* Change the environment.  0 or an errno. */
int preload_set(const struct preload *preload);

#endif
