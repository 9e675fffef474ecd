/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/file_attributes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SET_ID ((mode_t)(S_ISUID | S_ISGID))

/* Whether an attribute is one that this user, or this file system, cannot give. */
static bool is_denied(int error)
{
	return error == EPERM || error == EACCES || error == ENOTSUP;
}

static int keep_xattr(const char *name, int from, int to)
{
	ssize_t size = fgetxattr(from, name, NULL, 0);
	void *value;
	int r = 0;

	if (size < 0)
		return is_denied(errno) ? 0 : -errno;
	value = malloc(size ? (size_t)size : 1);
	if (!value)
		return -ENOMEM;
	size = fgetxattr(from, name, value, (size_t)size);
	if (size < 0 || fsetxattr(to, name, value, (size_t)size, 0))
		r = is_denied(errno) ? 0 : -errno;
	free(value);
	return r;
}

/* Whether an attribute lets whoever runs the file do more than they may. */
static bool is_privilege(const char *name)
{
	return !strcmp(name, "security.capability");
}

/* Access control lists, labels; or, if @privileges, capabilities. */
static int keep_xattrs(int from, int to, bool privileges)
{
	ssize_t size = flistxattr(from, NULL, 0);
	char *names;
	int r = 0;

	if (size <= 0)
		return size && !is_denied(errno) ? -errno : 0;
	names = malloc((size_t)size);
	if (!names)
		return -ENOMEM;
	size = flistxattr(from, names, (size_t)size);
	if (size < 0)
		r = -errno;
	for (ssize_t at = 0; at < size && !r; at += (ssize_t)strlen(names + at) + 1)
		if (is_privilege(names + at) == privileges)
			r = keep_xattr(names + at, from, to);
	free(names);
	return r;
}

int file_attributes_keep(const struct stat *status, int from, int to, mode_t *mode)
{
	*mode = status->st_mode & 07777;
	/*
	 * Only root may give files away, and a user namespace may not know the owner;
	 * set-ID bits of another owner must go then.
	 */
	if (fchown(to, status->st_uid, status->st_gid)) {
		if (errno != EPERM && errno != EINVAL)
			return -errno;
		*mode &= 0777;
	}
	if (fchmod(to, *mode & ~SET_ID))
		return -errno;
	return keep_xattrs(from, to, false);
}

int file_attributes_keep_privileges(mode_t mode, int from, int to)
{
	if (mode & SET_ID && fchmod(to, mode))
		return -errno;
	return keep_xattrs(from, to, true);
}
