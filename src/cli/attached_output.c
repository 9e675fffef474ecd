/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/attached_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "elf/elf_image.h"

static int read_back(int fd, const struct sframe_attachment *attachment, const void *section,
		     uint64_t size)
{
	struct elf_image image;
	int r = elf_image_init(fd, NULL, &image);

	if (r)
		return r;
	if (image.sframe.size < size || image.sframe.addr != attachment->addr ||
	    memcmp(image.sframe.data, section, size))
		r = -EBADMSG;
	elf_image_fini(&image);
	return r;
}

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

/* Capabilities, access control lists, labels. */
static int keep_xattrs(int from, int to)
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
		r = keep_xattr(names + at, from, to);
	free(names);
	return r;
}

static int keep_attributes(const struct stat *status, int from, int fd)
{
	mode_t mode = status->st_mode & 07777;

	/*
	 * Only root may give files away, and a user namespace may not know the owner;
	 * set-ID bits of another owner must go then.
	 */
	if (fchown(fd, status->st_uid, status->st_gid)) {
		if (errno != EPERM && errno != EINVAL)
			return -errno;
		mode &= 0777;
	}
	if (fchmod(fd, mode))
		return -errno;
	/* last, since a new owner costs a file its capabilities */
	return keep_xattrs(from, fd);
}

int attached_output_put(const char *path, int fd, struct sframe_attachment *attachment,
			const void *section, uint64_t size, bool in_place)
{
	struct output_file out;
	struct stat status;
	int r = fstat(fd, &status) ? -errno : 0;

	if (!r)
		r = output_file_init(path, status.st_mode & 0777, &out);
	if (r)
		return r;
	r = sframe_attachment_write(attachment, section, size, out.fd);
	if (!r)
		r = read_back(out.fd, attachment, section, size);
	if (!r && in_place)
		r = keep_attributes(&status, fd, out.fd);
	/* the old file goes: a crash must not leave an empty one in its place */
	if (!r && in_place && fsync(out.fd))
		r = -errno;
	if (!r)
		return output_file_commit(&out);
	output_file_discard(&out);
	return r;
}
