/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/path_owner.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const char *path)
{
	mode_t others = geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;
	struct stat st;

	if (lstat(path, &st) || (st.st_uid && st.st_uid != geteuid()))
		return false;
	return S_ISLNK(st.st_mode) || !(st.st_mode & others) || st.st_mode & S_ISVTX;
}

/* From the outermost folder on, so that nothing is looked at in one that others may change. */
static bool is_ours_down_to(const char *path)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part) || !is_ours("/"))
		return false;
	for (size_t end = 1; end <= length; end++) {
		if (path[end] && path[end] != '/')
			continue;
		memcpy(part, path, end);
		part[end] = '\0';
		if (!is_ours(part))
			return false;
	}
	return true;
}

bool path_is_ours(const char *path)
{
	char *real = realpath(path, NULL);
	bool good = real && is_ours_down_to(real) && (*path != '/' || is_ours_down_to(path));

	free(real);
	return good;
}
