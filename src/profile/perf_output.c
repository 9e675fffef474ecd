/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/output_path.h"
#include "profile/perf_output.h"

#define BUFFER_SIZE (256 * 1024)
#define MIN_ROOM (16 * 1024) /* less has no room for the samples of a moment */
#define STALL_MS 1000        /* of a stream's reader, when there was a signal */

struct perf_output {
	int fd, error;
	/* absolute; NULL for a device.  @temp, which begins with @hidden: NULL without a name */
	char *target, *hidden, *temp, *old;
	bool stream; /* nothing can be rewritten */
	uint64_t pos;
	size_t used;
	uint8_t buffer[BUFFER_SIZE];
};

/* Names in the same directory; that of a file that is not whole is its start. */
static int name_files(struct perf_output *output, const char *path, bool exists)
{
	int r = output_path(path, exists, &output->target), folder;

	if (r)
		return r;
	folder = (int)(strrchr(output->target, '/') - output->target);
	if (asprintf(&output->hidden, "%.*s/.%s.", folder, output->target,
		     output->target + folder + 1) < 0)
		output->hidden = NULL;
	if (asprintf(&output->old, "%s.old", output->target) < 0)
		output->old = NULL;
	return output->hidden && output->old ? 0 : -ENOMEM;
}

/* Where files cannot be nameless. */
static int create_named(struct perf_output *output)
{
	if (asprintf(&output->temp, "%sXXXXXX", output->hidden) < 0) {
		output->temp = NULL;
		return -ENOMEM;
	}
	output->fd = mkostemp(output->temp, O_CLOEXEC);
	if (output->fd >= 0)
		return 0;
	free(output->temp);
	output->temp = NULL;
	return -errno;
}

static int create(struct perf_output *output)
{
	char *name = strrchr(output->hidden, '/') + 1, first = *name;

	*name = '\0';
	output->fd = nameless_file_open(output->hidden);
	*name = first;
	return output->fd < 0 ? create_named(output) : 0;
}

/* Whoever is killed from now on leaves a file with something in it. */
static int show(struct perf_output *output)
{
	if (!output->target || output->temp)
		return 0;
	return nameless_file_name_like(output->fd, output->hidden, &output->temp);
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

/* Told before anything has run whose samples would be lost. */
static bool has_room(int fd)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) || !fs.f_blocks || !fs.f_frsize)
		return true;
	return (geteuid() ? fs.f_bavail : fs.f_bfree) * fs.f_frsize >= MIN_ROOM;
}

static int open_temp(struct perf_output *output, const char *path, bool exists)
{
	struct stat st;
	int r = name_files(output, path, exists);

	if (r)
		return r;
	if (!stat(output->old, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	r = create(output);
	return r || has_room(output->fd) ? r : -ENOSPC;
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
	free(output->hidden);
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
		perf_output_discard(output);
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
static int append(struct perf_output *output, const uint8_t *data, size_t size)
{
	bool is_empty = !size;

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
	return is_empty ? 0 : show(output);
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

	if (!output->target)
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

	if (!r)
		r = show(output);
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
