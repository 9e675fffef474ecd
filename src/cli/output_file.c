/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_range.h"

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

/* The folder of a path, from malloc(). */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/*
 * A file in the target's folder that has no name yet: nothing of it is left if we are killed.
 * Not all file systems have such files; its name is given through /proc.
 */
static int create_nameless(struct output_file *file)
{
	char *folder = folder_of(file->target);

	if (!folder)
		return -ENOMEM;
	file->fd = access("/proc/self/fd", X_OK)
			   ? -1
			   : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return file->fd < 0 ? -ENOTSUP : 0;
}

static int create_named(struct output_file *file)
{
	if (asprintf(&file->temp, "%s.XXXXXX", file->target) < 0) {
		file->temp = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemp(file->temp, O_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

static int create_beside(mode_t mode, struct output_file *file)
{
	int r = create_nameless(file);

	if (r == -ENOTSUP)
		r = create_named(file);
	if (r)
		return r;
	r = apply_mode(file->fd, mode);
	if (r && file->temp)
		unlink(file->temp);
	return r;
}

static int create_in_memory(struct output_file *file)
{
	file->fd = memfd_create("output", MFD_CLOEXEC);
	return file->fd < 0 ? -errno : 0;
}

int output_file_init(const char *path, mode_t mode, struct output_file *ret)
{
	struct output_file file = {.fd = -1};
	int r = resolve(path, &file.target, &file.special);

	if (!r)
		r = file.special ? create_in_memory(&file) : create_beside(mode, &file);
	if (r)
		forget(&file);
	else
		*ret = file;
	return r;
}

int output_file_write(struct output_file *file, const void *bytes, size_t size)
{
	return file_append(file->fd, bytes, size);
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
		r = file_append(to, bytes, (size_t)size);
		if (bytes)
			munmap(bytes, (size_t)size);
	}
	if (close(to) && !r)
		r = -errno;
	return r;
}

static int link_as(const struct output_file *file, const char *name)
{
	char nameless[32];

	snprintf(nameless, sizeof(nameless), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/*
 * No call puts a file without a name in the place of another one, so it gets a second name
 * for a moment: who kills us between the two calls leaves it behind.
 */
static int give_second_name(struct output_file *file)
{
	int r = -EEXIST;

	for (int tries = 0; r == -EEXIST && tries < 100; tries++) {
		uint32_t number;

		free(file->temp);
		file->temp = NULL;
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -EIO;
		if (asprintf(&file->temp, "%s.%06x", file->target, number & 0xffffff) < 0) {
			file->temp = NULL;
			return -ENOMEM;
		}
		r = link_as(file, file->temp);
	}
	if (r) {
		free(file->temp);
		file->temp = NULL;
	}
	return r;
}

static int give_name(struct output_file *file)
{
	int r = link_as(file, file->target);

	return r == -EEXIST ? give_second_name(file) : r;
}

int output_file_commit(struct output_file *file)
{
	int r;

	if (file->special) {
		r = send_all(file);
		forget(file);
		return r;
	}
	r = file->temp ? 0 : give_name(file);
	/* NFS tells of a full disk only now */
	if (close(file->fd) && !r)
		r = -errno;
	file->fd = -1;
	if (!file->temp) {
		forget(file);
		return r;
	}
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
		return file_append(STDOUT_FILENO, bytes, size);
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
