/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The file that @path means, through symbolic links; @path if it is new, or
 * @special: a device or a pipe.
 */
static int resolve(const char *path, char **ret, bool *special)
{
	struct stat status;
	bool is_new = lstat(path, &status);

	if (is_new && errno != ENOENT)
		return -errno;
	if (!is_new && stat(path, &status))
		return -errno;
	if (!is_new && S_ISDIR(status.st_mode))
		return -EISDIR;
	*special = !is_new && !S_ISREG(status.st_mode);
	*ret = is_new || *special ? strdup(path) : realpath(path, NULL);
	return *ret ? 0 : -errno;
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

static int create_beside(mode_t mode, struct output_file *file)
{
	int r;

	if (asprintf(&file->temp, "%s.XXXXXX", file->target) < 0) {
		file->temp = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemp(file->temp, O_CLOEXEC);
	if (file->fd < 0)
		return -errno;
	r = apply_mode(file->fd, mode);
	if (r)
		unlink(file->temp);
	return r;
}

static int create_unnamed(struct output_file *file)
{
	file->fd = memfd_create("output", MFD_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

int output_file_init(const char *path, mode_t mode, struct output_file *ret)
{
	struct output_file file = {.fd = -1};
	bool special = false;
	int r = resolve(path, &file.target, &special);

	if (!r)
		r = special ? create_unnamed(&file) : create_beside(mode, &file);
	if (r)
		forget(&file);
	else
		*ret = file;
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

/* All bytes to the device or the pipe. */
static int send_all(const struct output_file *file)
{
	int to = open(file->target, O_WRONLY | O_CLOEXEC | O_NOCTTY), r;
	off_t size = lseek(file->fd, 0, SEEK_END);
	void *bytes;

	if (to < 0)
		return -errno;
	bytes = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file->fd, 0) : NULL;
	if (bytes == MAP_FAILED) {
		r = -errno;
	} else {
		r = write_all(to, bytes, (size_t)size);
		if (bytes)
			munmap(bytes, (size_t)size);
	}
	if (close(to) && !r)
		r = -errno;
	return r;
}

int output_file_commit(struct output_file *file)
{
	int r = 0;

	if (!file->temp) {
		r = send_all(file);
		forget(file);
		return r;
	}
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
