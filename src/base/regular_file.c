/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static bool is_same(int fd, const struct stat *expected)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == expected->st_dev &&
	       st.st_ino == expected->st_ino;
}

/* Exactly what @place refers to; by its path again where /proc is not mounted. */
static int reopen(int place, const char *path, int flags, const struct stat *st)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, READING);
	if (fd < 0 && errno == ENOENT)
		fd = open(path, READING | flags);
	if (fd < 0)
		return -errno;
	if (is_same(fd, st))
		return fd;
	close(fd);
	return -ENOENT;
}

int regular_file_open(const char *path, int flags, struct stat *ret)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags), fd = -ENOENT;
	struct stat st;

	if (place < 0 || flags & O_DIRECTORY)
		return place < 0 ? -errno : place;
	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = reopen(place, path, flags, &st);
	close(place);
	if (fd >= 0 && ret)
		*ret = st;
	return fd;
}
