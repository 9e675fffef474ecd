/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READING (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static bool is_same(int fd, const struct stat *expected)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == expected->st_dev &&
	       st.st_ino == expected->st_ino;
}

/*
 * Exactly what @place refers to; by its path again, unless that is NULL, where /proc is not
 * mounted.
 */
static int reopen(int place, const char *path, int flags, const struct stat *st)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, READING);
	if (fd < 0 && errno == ENOENT && path)
		fd = open(path, READING | flags);
	if (fd < 0)
		return -errno;
	if (is_same(fd, st))
		return fd;
	close(fd);
	return -ENOENT;
}

/* Takes @place over. */
static int open_place(int place, const char *path, int flags, struct stat *ret)
{
	int fd = -ENOENT;
	struct stat st;

	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = reopen(place, path, flags, &st);
	close(place);
	if (fd >= 0 && ret)
		*ret = st;
	return fd;
}

int regular_file_open(const char *path, int flags, struct stat *ret)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags);

	if (place < 0 || flags & O_DIRECTORY)
		return place < 0 ? -errno : place;
	return open_place(place, path, flags, ret);
}

int regular_file_open_in(int root, const char *path, int flags, struct stat *ret)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = RESOLVE_IN_ROOT,
	};
	long place = syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (place < 0 || flags & O_DIRECTORY)
		return place < 0 ? -errno : (int)place;
	return open_place((int)place, NULL, flags, ret);
}
