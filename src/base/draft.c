/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_range.h"

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

#define BUFFER_SIZE (256 * 1024)
#define MIN_ROOM (16 * 1024) /* less has no room for the samples of a moment */
#define STALL_MS 1000        /* of a stream's reader, when there was a signal */

struct draft {
	int fd, error;
	/* absolute; NULL for a device.  @temp, which begins with @hidden: NULL without a name */
	char *target, *hidden, *temp, *old;
	bool stream; /* nothing can be rewritten */
	uint64_t pos;
	size_t used;
	uint8_t buffer[BUFFER_SIZE];
};

/* Names in the same directory; that of a file that is not whole is its start. */
static int name_files(struct draft *draft, const char *path, bool exists)
{
	int r = output_path(path, exists, &draft->target), folder;

	if (r)
		return r;
	folder = (int)(strrchr(draft->target, '/') - draft->target);
	if (asprintf(&draft->hidden, "%.*s/.%s.", folder, draft->target,
		     draft->target + folder + 1) < 0)
		draft->hidden = NULL;
	if (asprintf(&draft->old, "%s.old", draft->target) < 0)
		draft->old = NULL;
	return draft->hidden && draft->old ? 0 : -ENOMEM;
}

/* Where files cannot be nameless. */
static int create_named(struct draft *draft)
{
	if (asprintf(&draft->temp, "%sXXXXXX", draft->hidden) < 0) {
		draft->temp = NULL;
		return -ENOMEM;
	}
	draft->fd = mkostemp(draft->temp, O_CLOEXEC);
	if (draft->fd >= 0)
		return 0;
	free(draft->temp);
	draft->temp = NULL;
	return -errno;
}

static int create(struct draft *draft)
{
	char *name = strrchr(draft->hidden, '/') + 1, first = *name;

	*name = '\0';
	draft->fd = nameless_file_open(draft->hidden);
	*name = first;
	return draft->fd < 0 ? create_named(draft) : 0;
}

/* Whoever is killed from now on leaves a file with something in it. */
static int show(struct draft *draft)
{
	if (!draft->target || draft->temp)
		return 0;
	return nameless_file_name_like(draft->fd, draft->hidden, &draft->temp);
}

static int open_device(struct draft *draft, const char *path)
{
	draft->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (draft->fd < 0 || lseek(draft->fd, 0, SEEK_CUR) < 0)
		return -errno;
	return 0;
}

/* A pipe waits for its reader here. */
static int open_stream(struct draft *draft, const char *path)
{
	draft->stream = true;
	draft->fd = path ? open(path, O_WRONLY | O_CLOEXEC)
			 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return draft->fd < 0 ? -errno : 0;
}

/* Told before anything has run whose samples would be lost. */
static bool has_room(int fd)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) || !fs.f_blocks || !fs.f_frsize)
		return true;
	return (geteuid() ? fs.f_bavail : fs.f_bfree) * fs.f_frsize >= MIN_ROOM;
}

static int open_temp(struct draft *draft, const char *path, bool exists)
{
	struct stat st;
	int r = name_files(draft, path, exists);

	if (r)
		return r;
	if (!stat(draft->old, &st) && S_ISDIR(st.st_mode))
		return -EISDIR;
	r = create(draft);
	return r || has_room(draft->fd) ? r : -ENOSPC;
}

static int open_output(struct draft *draft, const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return open_stream(draft, NULL);
	if (stat(path, &st))
		return errno == ENOENT ? open_temp(draft, path, false) : -errno;
	if (S_ISREG(st.st_mode))
		return open_temp(draft, path, true);
	if (S_ISCHR(st.st_mode))
		return open_device(draft, path);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISFIFO(st.st_mode))
		return open_stream(draft, path);
	return S_ISSOCK(st.st_mode) ? -ESPIPE : -EINVAL;
}

static void free_output(struct draft *draft)
{
	if (draft->fd >= 0)
		close(draft->fd);
	free(draft->target);
	free(draft->hidden);
	free(draft->temp);
	free(draft->old);
	free(draft);
}

int draft_open(const char *path, struct draft **ret)
{
	struct draft *draft = calloc(1, sizeof(*draft));
	int r;

	if (!draft)
		return -ENOMEM;
	draft->fd = -1;
	r = open_output(draft, path);
	if (r)
		draft_discard(draft);
	else
		*ret = draft;
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
static int append(struct draft *draft, const uint8_t *data, size_t size)
{
	bool is_empty = !size;

	while (size) {
		ssize_t n = write(draft->fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return -EIO;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
		if (size && draft->stream && has_stalled(draft->fd))
			return -ETIMEDOUT;
	}
	return is_empty ? 0 : show(draft);
}

int draft_flush(struct draft *draft)
{
	if (!draft->error)
		draft->error = append(draft, draft->buffer, draft->used);
	draft->used = 0;
	return draft->error;
}

int draft_write(struct draft *draft, const void *data, size_t size)
{
	if (draft->used + size > BUFFER_SIZE)
		draft_flush(draft);
	if (draft->error || !size)
		return draft->error;
	draft->pos += size;
	if (size > BUFFER_SIZE)
		return draft->error = append(draft, data, size);
	memcpy(draft->buffer + draft->used, data, size);
	draft->used += size;
	return 0;
}

int draft_rewrite(struct draft *draft, uint64_t offset, const void *data, size_t size)
{
	if (!draft_flush(draft))
		draft->error = file_range_write(draft->fd, offset, data, size);
	return draft->error;
}

bool draft_is_stream(const struct draft *draft)
{
	return draft->stream;
}

int draft_recover(struct draft *draft, int *ret_fd, uint64_t *ret_size)
{
	struct stat st;

	if (!draft->target)
		return draft->error ? draft->error : -ENOSPC;
	if (fstat(draft->fd, &st))
		return -errno;
	*ret_fd = draft->fd;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

int draft_cut(struct draft *draft, uint64_t size)
{
	draft->error = draft->used = 0;
	if (ftruncate(draft->fd, (off_t)size) || lseek(draft->fd, (off_t)size, SEEK_SET) < 0)
		draft->error = -errno;
	draft->pos = size;
	return draft->error;
}

uint64_t draft_pos(const struct draft *draft)
{
	return draft->pos;
}

/* The old file goes out of the way, and back if the new one cannot take its place. */
static int replace_target(const struct draft *draft)
{
	struct stat st;
	bool keep = !stat(draft->target, &st) && st.st_size;
	int r;

	if (keep && rename(draft->target, draft->old))
		return -errno;
	if (!rename(draft->temp, draft->target))
		return 0;
	r = -errno;
	if (keep)
		rename(draft->old, draft->target);
	return r;
}

int draft_commit(struct draft *draft)
{
	int r = draft_flush(draft);

	if (!r)
		r = show(draft);
	/* Some file systems say only now that the disk is full. */
	if (close(draft->fd) && !r)
		r = -errno;
	draft->fd = -1;
	if (!r && draft->temp)
		r = replace_target(draft);
	if (r)
		draft_discard(draft);
	else
		free_output(draft);
	return r;
}

void draft_discard(struct draft *draft)
{
	if (!draft)
		return;
	if (draft->temp)
		unlink(draft->temp);
	free_output(draft);
}
