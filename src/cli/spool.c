/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/nameless_file.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "profile/perf_format.h"

#define CHUNK (1 << 16)

static const char *folder(void)
{
	const char *named = getenv("TMPDIR");

	return named && *named ? named : "/var/tmp";
}

/* Not all file systems have files that never had a name. */
static int create(void)
{
	char *name;
	int fd = nameless_file_open(folder());

	if (fd >= 0 || asprintf(&name, "%s/bobbin.XXXXXX", folder()) < 0)
		return fd;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

static ssize_t read_some(int fd, char *to, size_t size)
{
	ssize_t n;

	while ((n = read(fd, to, size)) < 0 && errno == EINTR)
		;
	return n;
}

/* Enough to see what it is; less at the end. */
static ssize_t read_start(int fd, char *to)
{
	ssize_t all = 0, n;

	while (all < (ssize_t)sizeof(uint64_t)) {
		n = read_some(fd, to + all, CHUNK - (size_t)all);
		if (n < 0)
			return n;
		if (!n)
			break;
		all += n;
	}
	return all;
}

/* Whether it is worth reading to the end. */
static bool is_recording(const char *bytes, ssize_t size)
{
	uint64_t magic;

	if (size < (ssize_t)sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == PERF_FILE_MAGIC;
}

/* What could not be kept is said; the reader sees that the end is missing. */
static int copy(int from, int to, const char *path)
{
	char bytes[CHUNK];
	uint64_t all = 0;
	ssize_t n = read_start(from, bytes);
	bool more = is_recording(bytes, n);
	int r = 0;

	for (; n > 0 && !r; n = more ? read_some(from, bytes, sizeof(bytes)) : 0) {
		all += (uint64_t)n;
		if (all > SPOOL_MAX) {
			complain("%s: only the first %u GiB are read", path,
				 (unsigned int)(SPOOL_MAX >> 30));
			return 0;
		}
		r = file_append(to, bytes, (size_t)n);
	}
	if (r)
		complain("%s: not all of it can be kept in %s: %s", path, folder(), strerror(-r));
	if (n >= 0)
		return 0;
	complain("%s: %s", path, strerror(errno));
	return 1;
}

static void name_descriptor(int fd, struct spool *spool)
{
	snprintf(spool->path, sizeof(spool->path), "/proc/self/fd/%d", fd);
}

static int keep(int from, const char *path, struct spool *spool)
{
	spool->fd = create();
	if (spool->fd < 0) {
		complain("%s: %s", folder(), strerror(errno));
		return 1;
	}
	name_descriptor(spool->fd, spool);
	return copy(from, spool->fd, path);
}

/* Another user may have made it so that we misread it. */
static bool refuse_strangers(const char *path, int fd, bool any_owner)
{
	struct stat st;

	if (any_owner || fstat(fd, &st) || !st.st_uid || st.st_uid == geteuid())
		return false;
	complain("%s: belongs to user %u, who is neither you nor root; -f reads it all the same",
		 path, st.st_uid);
	return true;
}

/* What was looked at is what is read, whatever @path leads to by then. */
static int hold(const char *path, bool any_owner, struct spool *spool, const char **ret_path)
{
	struct stat st;

	spool->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (spool->fd < 0 || fstat(spool->fd, &st) || !S_ISREG(st.st_mode))
		return 0; /* whoever opens it says why */
	if (refuse_strangers(path, spool->fd, any_owner))
		return 1;
	name_descriptor(spool->fd, spool);
	if (!access(spool->path, F_OK))
		*ret_path = spool->path;
	return 0;
}

static int keep_pipe(const char *path, bool any_owner, struct spool *spool)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0) {
		complain("%s: %s", path, strerror(errno));
		return 1;
	}
	r = refuse_strangers(path, fd, any_owner) ? 1 : keep(fd, path, spool);
	close(fd);
	return r;
}

static int keep_input(struct spool *spool)
{
	if (!isatty(STDIN_FILENO))
		return keep(STDIN_FILENO, "-", spool);
	complain_use("-i -: standard input is a terminal");
	return 1;
}

int spool_open(const char *path, bool any_owner, struct spool *spool, const char **ret_path)
{
	bool is_input = !strcmp(path, "-");
	struct stat st;
	int r;

	spool->fd = -1;
	*ret_path = is_input ? "/proc/self/fd/0" : path;
	if (is_input ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return 0; /* whoever opens it says why */
	if (is_input && S_ISREG(st.st_mode))
		return 0;
	if (!is_input && !S_ISFIFO(st.st_mode))
		return hold(path, any_owner, spool, ret_path);
	r = is_input ? keep_input(spool) : keep_pipe(path, any_owner, spool);
	*ret_path = spool->path;
	return r;
}

void spool_close(struct spool *spool)
{
	if (spool->fd >= 0)
		close(spool->fd);
	spool->fd = -1;
}
