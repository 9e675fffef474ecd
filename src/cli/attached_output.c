/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/attached_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output_file.h"
#include "elf/elf_image.h"

#define SET_ID ((mode_t)(S_ISUID | S_ISGID))

/* A linked file in the making. */
struct linked {
	struct sframe_attachment *attachment;
	const void *section;
	uint64_t size;
};

static int write_linked(const void *ctx, int out)
{
	const struct linked *linked = ctx;

	return sframe_attachment_write(linked->attachment, linked->section, linked->size, out);
}

static int read_linked(const void *ctx, int out)
{
	const struct linked *linked = ctx;
	struct elf_image image;
	int r = elf_image_init(out, NULL, &image);

	if (r)
		return r;
	if (image.sframe.size < linked->size || image.sframe.addr != linked->attachment->addr ||
	    memcmp(image.sframe.data, linked->section, linked->size))
		r = -EBADMSG;
	elf_image_fini(&image);
	return r;
}

static int write_object(const void *ctx, int out)
{
	const struct object_output *object = ctx;

	return object_attachment_write(object->attachment, object->section, object->size,
				       object->relocations, out);
}

static int read_object(const void *ctx, int out)
{
	const struct object_output *object = ctx;

	return start_relocations_check(object->relocations, object->code, object->section,
				       object->size, out);
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

/* All but what gives privileges.  *@mode: the whole one that it is to have. */
static int keep_attributes(const struct stat *status, int from, int fd, mode_t *mode)
{
	*mode = status->st_mode & 07777;
	/*
	 * Only root may give files away, and a user namespace may not know the owner;
	 * set-ID bits of another owner must go then.
	 */
	if (fchown(fd, status->st_uid, status->st_gid)) {
		if (errno != EPERM && errno != EINVAL)
			return -errno;
		*mode &= 0777;
	}
	if (fchmod(fd, *mode & ~SET_ID))
		return -errno;
	return keep_xattrs(from, fd, false);
}

/* What must wait until the old file is gone: nobody would look for a second program with it. */
static int keep_privileges(mode_t mode, int from, int fd)
{
	if (mode & SET_ID && fchmod(fd, mode))
		return -errno;
	return keep_xattrs(from, fd, true);
}

/* Let a file that is complete take the place of the one that is open at @fd. */
static int replace(struct output_file *out, const struct stat *status, int fd)
{
	/* the old file goes: a crash must not leave an empty one in its place */
	int r = fsync(out->fd) ? -errno : 0, replacement;
	mode_t mode;

	if (!r)
		r = keep_attributes(status, fd, out->fd, &mode);
	replacement = r ? -1 : fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
	if (!r && replacement < 0)
		r = -errno;
	if (r) {
		output_file_discard(out);
		return r;
	}
	r = output_file_commit(out);
	if (!r)
		r = keep_privileges(mode, fd, replacement);
	close(replacement);
	return r;
}

/* Write a file and read it back; each as told. */
static int put(const char *path, int fd, bool in_place, const void *ctx,
	       int (*write)(const void *ctx, int out), int (*read)(const void *ctx, int out))
{
	struct output_file out;
	struct stat status;
	int r = fstat(fd, &status) ? -errno : 0;

	if (!r)
		r = output_file_init(path, status.st_mode & 0777, &out);
	if (r)
		return r;
	r = write(ctx, out.fd);
	if (!r)
		r = read(ctx, out.fd);
	if (r) {
		output_file_discard(&out);
		return r;
	}
	if (!in_place)
		return output_file_commit(&out);
	r = replace(&out, &status, fd);
	if (!r && status.st_nlink > 1)
		complain("%s: the file has other names (hard links), which keep the old one", path);
	return r;
}

int attached_output_put(const char *path, int fd, struct sframe_attachment *attachment,
			const void *section, uint64_t size, bool in_place)
{
	const struct linked linked = {attachment, section, size};

	return put(path, fd, in_place, &linked, write_linked, read_linked);
}

int object_output_put(const char *path, int fd, const struct object_output *output, bool in_place)
{
	return put(path, fd, in_place, output, write_object, read_object);
}
