/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jit/names_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "base/shortage.h"

/* Written before this process began, so by another of the same number. */
static bool is_left_over(const struct stat *st)
{
	uint64_t tick = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t start = process_start_time(0) * tick, written = clock_of(&st->st_mtim);
	uint64_t now = clock_ns(CLOCK_REALTIME);

	return start && now > written && now - written + start > clock_ns(CLOCK_BOOTTIME) + tick;
}

static bool is_ours_alone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_nlink == 1;
}

/* Whoever is first empties it; others, who wait for nothing, find it new. */
static int empty_left_over(int fd, struct stat *st)
{
	int status = 0;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	if (fstat(fd, st))
		status = -errno;
	else if (is_left_over(st) && ftruncate(fd, 0))
		status = -errno;
	flock(fd, LOCK_UN);
	return status;
}

static int check(int fd, enum names_file_use use)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!is_ours_alone(&st) || (use == NAMES_FILE_OWN && !is_left_over(&st)))
		return -EEXIST;
	return empty_left_over(fd, &st);
}

static int open_at(int directory, const char *name, enum names_file_use use)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
	int fd = openat(directory, name, flags | O_CREAT | O_EXCL, 0600), status;

	if (fd >= 0)
		return fd;
	if (errno != EEXIST)
		return -errno;
	fd = openat(directory, name, flags);
	if (fd < 0)
		return is_shortage(-errno) ? -errno : -EEXIST;
	status = check(fd, use);
	if (!status)
		return fd;
	close(fd);
	return status;
}

int names_file_open(const char *directory, const char *name, enum names_file_use use)
{
	int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (folder < 0)
		return -errno;
	fd = open_at(folder, name, use);
	close(folder);
	return fd;
}

void names_file_remove(const char *directory, const char *name)
{
	int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}
