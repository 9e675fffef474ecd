/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/jitdump_marker.h"

#include <string.h>

bool jitdump_marker_is(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, "jit-", 4))
		return false;
	digits = strspn(name + 4, "0123456789");
	name += 4 + digits;
	return digits && (!strcmp(name, ".dump") || !strcmp(name, ".dump (deleted)"));
}
