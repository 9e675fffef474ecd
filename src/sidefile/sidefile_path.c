/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/build_id_path.h"
#include "base/regular_file.h"

#define SUFFIX ".sframe.zst"

char *sidefile_path(const char *folder, size_t length, const uint8_t *build_id, size_t id_length)
{
	size_t size = length + 1 + BUILD_ID_PATH_SIZE(id_length) + sizeof(SUFFIX);
	char *path = id_length < 2 ? NULL : malloc(size), *at = path;

	if (!path)
		return NULL;
	memcpy(at, folder, length);
	at += length;
	*at++ = '/';
	strcpy(build_id_path(build_id, id_length, at), SUFFIX);
	return path;
}

int sidefile_find(const char *folders, const uint8_t *build_id, size_t id_length)
{
	if (id_length < 2)
		return -ENOENT;
	while (*folders) {
		size_t length = strcspn(folders, ":");
		char *path = sidefile_path(folders, length, build_id, id_length);
		int fd;

		if (!path)
			return -ENOMEM;
		fd = length ? regular_file_open(path, 0, NULL) : -ENOENT;
		free(path);
		if (fd >= 0)
			return fd;
		folders += length + (folders[length] == ':');
	}
	return -ENOENT;
}
