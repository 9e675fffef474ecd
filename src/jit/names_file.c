/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jit/names_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ll
#define STAT_SIZE 2048
#define START_FIELD 22 /* of /proc/PID/stat, see proc(5) */

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * NS + t.tv_nsec;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return ns_of(t);
}

/* When this process began, in ns since boot; -1: unknown. */
static int64_t start_since_boot(void)
{
	char stat[STAT_SIZE], *field;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	stat[n] = '\0';
	/* the second field is the command, in parentheses, which may hold anything */
	field = strrchr(stat, ')');
	for (int i = 2; field && i < START_FIELD; i++)
		field = strchr(field + 1, ' ');
	return field ? strtoll(field, NULL, 10) * (NS / sysconf(_SC_CLK_TCK)) : -1;
}

/* Written before this process began, so by another of the same number. */
static bool is_left_over(const struct stat *st)
{
	int64_t start = start_since_boot(), tick = NS / sysconf(_SC_CLK_TCK);
	int64_t age = clock_ns(CLOCK_REALTIME) - ns_of(st->st_mtim);

	return start >= 0 && age > clock_ns(CLOCK_BOOTTIME) - start + tick;
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
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? -errno : -EEXIST;
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
