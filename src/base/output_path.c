/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100

int nameless_file_open(const char *folder)
{
	int fd = access("/proc/self/fd", X_OK) ? -1
					       : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? -ENOTSUP : fd;
}

int nameless_file_name(int fd, const char *name)
{
	char own[32];

	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int nameless_file_name_like(int fd, const char *start, char **ret)
{
	int r = -EEXIST;

	for (int tries = 0; r == -EEXIST && tries < TRIES; tries++) {
		uint32_t number;
		char *name;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		if (asprintf(&name, "%s%06x", start, number & 0xffffff) < 0)
			return -ENOMEM;
		r = nameless_file_name(fd, name);
		if (r)
			free(name);
		else
			*ret = name;
	}
	return r;
}

static bool is_strangers_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode) && st.st_uid && st.st_uid != geteuid();
}

/* As the kernel follows it, which realpath(3) does not: links in /tmp have rules of their own. */
static int follow(const char *path, char **ret)
{
	char own[32], target[PATH_MAX];
	int fd = open(path, O_PATH | O_CLOEXEC), r = fd < 0 ? -errno : 0;
	ssize_t n;

	if (r)
		return r;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	n = readlink(own, target, sizeof(target));
	if (n >= (ssize_t)sizeof(target))
		r = -ENAMETOOLONG;
	else if (n < 0)
		*ret = realpath(path, NULL);
	else
		*ret = strndup(target, (size_t)n);
	if (!r && !*ret)
		r = -errno;
	close(fd);
	return r;
}

/* The folder of a path, from malloc(). */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int new_path(const char *path, char **ret)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = NULL, *given;
	struct stat st;
	int r;

	/* a link to nowhere is refused */
	if (!*name || !lstat(path, &st))
		return *name ? -ENOENT : -EISDIR;
	given = folder_of(path);
	r = given ? follow(given, &folder) : -ENOMEM;
	if (!r && asprintf(ret, "%s/%s", strcmp(folder, "/") ? folder : "", name) < 0)
		r = -ENOMEM;
	free(folder);
	free(given);
	return r;
}

int output_path(const char *path, bool exists, char **ret)
{
	*ret = NULL;
	if (is_strangers_link(path))
		return -EACCES;
	return exists ? follow(path, ret) : new_path(path, ret);
}
