/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base_name.h - the last part of a path.
 */
#ifndef BOBBIN_BASE_BASE_NAME_H
#define BOBBIN_BASE_BASE_NAME_H

#include <string.h>

/* @path itself if it has no slash, or ends with one. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
