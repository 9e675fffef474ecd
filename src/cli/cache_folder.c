/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cache_folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Programs that change to root may leave the variables of the user who called them. */
#define ROOTS "/var/cache/bobbin/tables"

const char *cache_folder(void)
{
	static char path[PATH_MAX];
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length = 0;

	if (!geteuid())
		return ROOTS;
	if (cache && *cache == '/')
		length = snprintf(path, sizeof(path), "%s/bobbin", cache);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.cache/bobbin", home);
	return length > 0 && length < (int)sizeof(path) ? path : "";
}
