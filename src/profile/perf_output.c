/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_range.h"
#include "profile/perf_output.h"

#define BUFFER_SIZE (256 * 1024)
#define STALL_MS 1000 /* of a stream's reader, when there was a signal */

struct perf_output {
	int fd, error;
	char *target, *temp, *old; /* absolute; NULL for a device */
	bool stream;               /* nothing can be rewritten */
	uint64_t pos;
	size_t used;
	uint8_t buffer[BUFFER_SIZE];
};

/* The file that is to be there: absolute, as the directory may be left meanwhile. */
static int find_target(const char *path, bool exists, char **ret)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder, *absolute;
	struct stat st;
	int r;

	if (exists) {
		*ret = realpath(path, NULL);
		return *ret ? 0 : -errno;
	}
	/* a link to nowhere is refused */
	if (!*name || !lstat(path, &st))
		return *name ? -ENOENT : -EISDIR;
	folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	absolute = folder ? realpath(folder, NULL) : NULL;
	r = absolute ? 0 : -errno;
	if (!r && asprintf(ret, "%s/%s", absolute, name) < 0)
		r = -ENOMEM;
	free(folder);
	free(absolute);
	return r;
}

/* Names in the same directory. */
static int name_files(struct perf_output *output, const char *path, bool exists)
{
	char *target = NULL, *temp = NULL, *old = NULL;
	int r = find_target(path, exists, &target), folder;

	if (r)
		return r;
	output->target = target;
	folder = (int)(strrchr(target, '/') - target);
	if (asprintf(&temp, "%.*s/.%s.XXXXXX", folder, target, target + folder + 1) < 0)
		return -ENOMEM;
	output->temp = temp;
	if (asprintf(&old, "%s.old", target) < 0)
		return -ENOMEM;
	output->old = old;
	return 0;
}

static int open_device(struct perf_output *output, const char *path)
{
	output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (output->fd < 0 || lseek(output->fd, 0, SEEK_CUR) < 0)
		return -errno;
	return 0;
}

/* A pipe waits for its reader here. */
static int open_stream(struct perf_output *output, const char *path)
{
	output->stream = true;
	output->fd = path ? open(path, O_WRONLY | O_CLOEXEC)
			  : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return output->fd < 0 ? -errno : 0;
}

static int open_temp(struct perf_output *output, const char *path, bool exists)
{
	struct stat st;
	int r = name_files(output, path, exists);

	if (r)
		return r;
	if (!stat(output->old, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	output->fd = mkostemp(output->temp, O_CLOEXEC);
	return output->fd < 0 ? -errno : 0;
}

static int open_output(struct perf_output *output, const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return open_stream(output, NULL);
	if (stat(path, &st))
		return errno == ENOENT ? open_temp(output, path, false) : -errno;
	if (S_ISREG(st.st_mode))
		return open_temp(output, path, true);
	if (S_ISCHR(st.st_mode))
		return open_device(output, path);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISFIFO(st.st_mode))
		return open_stream(output, path);
	return S_ISSOCK(st.st_mode) ? -ESPIPE : -EINVAL;
}

static void free_output(struct perf_output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	free(output->target);
	free(output->temp);
	free(output->old);
	free(output);
}

int perf_output_open(const char *path, struct perf_output **ret)
{
	struct perf_output *output = calloc(1, sizeof(*output));
	int r;

	if (!output)
		return -ENOMEM;
	output->fd = -1;
	r = open_output(output, path);
	if (r)
		free_output(output);
	else
		*ret = output;
	return r;
}

/*
 * Whether a write to a stream that a signal interrupted is not to be tried again: who
 * sent the signal would wait for the reader, which may read nothing any more.
 */
static bool has_stalled(int fd)
{
	struct pollfd reader = {.fd = fd, .events = POLLOUT};

	return !poll(&reader, 1, STALL_MS);
}

/* At the end of the file, or of the stream. */
static int append(const struct perf_output *output, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = write(output->fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -EIO;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
		if (size && output->stream && has_stalled(output->fd))
			return -ETIMEDOUT;
	}
	return 0;
}

int perf_output_flush(struct perf_output *output)
{
	if (!output->error)
		output->error = append(output, output->buffer, output->used);
	output->used = 0;
	return output->error;
}

int perf_output_write(struct perf_output *output, const void *data, size_t size)
{
	if (output->used + size > BUFFER_SIZE)
		perf_output_flush(output);
	if (output->error || !size)
		return output->error;
	output->pos += size;
	if (size > BUFFER_SIZE)
		return output->error = append(output, data, size);
	memcpy(output->buffer + output->used, data, size);
	output->used += size;
	return 0;
}

int perf_output_rewrite(struct perf_output *output, uint64_t offset, const void *data, size_t size)
{
	if (!perf_output_flush(output))
		output->error = file_range_write(output->fd, offset, data, size);
	return output->error;
}

bool perf_output_is_stream(const struct perf_output *output)
{
	return output->stream;
}

int perf_output_recover(struct perf_output *output, int *ret_fd, uint64_t *ret_size)
{
	struct stat st;

	if (!output->temp)
		return output->error ? output->error : -ENOSPC;
	if (fstat(output->fd, &st))
		return -errno;
	*ret_fd = output->fd;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

int perf_output_cut(struct perf_output *output, uint64_t size)
{
	output->error = output->used = 0;
	if (ftruncate(output->fd, (off_t)size) || lseek(output->fd, (off_t)size, SEEK_SET) < 0)
		output->error = -errno;
	output->pos = size;
	return output->error;
}

uint64_t perf_output_pos(const struct perf_output *output)
{
	return output->pos;
}

/* The old file goes out of the way, and back if the new one cannot take its place. */
static int replace_target(const struct perf_output *output)
{
	struct stat st;
	bool keep = !stat(output->target, &st) && st.st_size;
	int r;

	if (keep && rename(output->target, output->old))
		return -errno;
	if (!rename(output->temp, output->target))
		return 0;
	r = -errno;
	if (keep)
		rename(output->old, output->target);
	return r;
}

int perf_output_commit(struct perf_output *output)
{
	int r = perf_output_flush(output);

	/* Some file systems say only now that the disk is full. */
	if (close(output->fd) && !r)
		r = -errno;
	output->fd = -1;
	if (!r && output->temp)
		r = replace_target(output);
	if (r)
		perf_output_discard(output);
	else
		free_output(output);
	return r;
}

void perf_output_discard(struct perf_output *output)
{
	if (!output)
		return;
	if (output->temp)
		unlink(output->temp);
	free_output(output);
}
