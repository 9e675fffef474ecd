/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file that @path means, through symbolic links; @path if it is new. */
static int resolve(const char *path, char **ret)
{
	struct stat status;

	if (lstat(path, &status)) {
		if (errno != ENOENT)
			return -errno;
		*ret = strdup(path);
		return *ret ? 0 : -ENOMEM;
	}
	*ret = realpath(path, NULL);
	if (!*ret || stat(*ret, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

/* The mode that open(2) would have given. */
static int apply_mode(int fd, mode_t mode)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, mode & ~mask) ? -errno : 0;
}

static void forget(struct output_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->temp);
	free(file->target);
	*file = (struct output_file){.fd = -1};
}

int output_file_init(const char *path, mode_t mode, struct output_file *ret)
{
	struct output_file file = {.fd = -1};
	int r = resolve(path, &file.target);

	if (!r && asprintf(&file.temp, "%s.XXXXXX", file.target) < 0) {
		file.temp = NULL;
		r = -ENOMEM;
	}
	if (!r) {
		file.fd = mkostemp(file.temp, O_CLOEXEC);
		r = file.fd < 0 ? -errno : apply_mode(file.fd, mode);
	}
	if (!r) {
		*ret = file;
		return 0;
	}
	if (file.fd >= 0)
		unlink(file.temp);
	forget(&file);
	return r;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int output_file_write(struct output_file *file, const void *bytes, size_t size)
{
	return write_all(file->fd, bytes, size);
}

int output_file_commit(struct output_file *file)
{
	int r = 0;

	/* NFS tells of a full disk only now */
	if (close(file->fd))
		r = -errno;
	file->fd = -1;
	if (!r && rename(file->temp, file->target))
		r = -errno;
	if (r)
		unlink(file->temp);
	forget(file);
	return r;
}

void output_file_discard(struct output_file *file)
{
	if (file->temp)
		unlink(file->temp);
	forget(file);
}

int output_file_put(const char *path, mode_t mode, const void *bytes, size_t size)
{
	struct output_file file;
	int r;

	if (!strcmp(path, "-"))
		return write_all(STDOUT_FILENO, bytes, size);
	r = output_file_init(path, mode, &file);
	if (r)
		return r;
	r = output_file_write(&file, bytes, size);
	if (r) {
		output_file_discard(&file);
		return r;
	}
	return output_file_commit(&file);
}
