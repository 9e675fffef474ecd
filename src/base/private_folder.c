/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/private_folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDERS_OPEN 8

int private_folder_create(const char *parent, char **ret)
{
	char *path;
	int r;

	if (asprintf(&path, "%s/bobbin.XXXXXX", parent) < 0)
		return -ENOMEM;
	if (mkdtemp(path)) {
		*ret = path;
		return 0;
	}
	r = -errno;
	free(path);
	return r;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	return remove(path) ? -errno : 0;
}

int private_folder_remove(const char *path)
{
	int r = nftw(path, remove_entry, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);

	return r == -1 ? -errno : r;
}
