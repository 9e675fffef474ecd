/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vector.h"

/* Seconds after which nobody is still writing a file. */
#define WRITING_TIME 3600

#define NAME_SIZE 96

struct used_file {
	char name[NAME_SIZE];
	struct timespec used;
	uint64_t size;
};

struct usage {
	struct used_file *files;
	size_t count, capacity;
	uint64_t bytes;
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length < NAME_SIZE && length > end && !strcmp(name + length - end, suffix);
}

/* In seconds.  time() lags the clock of a file system by some milliseconds. */
static time_t now(void)
{
	return (time_t)(clock_ns(CLOCK_REALTIME) / NS_PER_SECOND);
}

static int add_file(struct usage *u, const char *name, const struct stat *st)
{
	struct used_file *file;

	if (vector_reserve(&u->files, &u->capacity, u->count + 1, sizeof(*u->files)))
		return -ENOMEM;
	file = &u->files[u->count++];
	strcpy(file->name, name);
	/* a time in the future would keep the file for ever */
	file->used = st->st_mtim.tv_sec > now() ? (struct timespec){0} : st->st_mtim;
	/* holes do not count, nor does a file system's slack */
	file->size = (uint64_t)st->st_size;
	u->bytes += file->size;
	return 0;
}

static int look_at(struct usage *u, int fd, const char *name)
{
	bool table = ends_with(name, TABLE_SUFFIX), new = ends_with(name, TABLE_NEW_SUFFIX);
	struct stat st;

	if ((!table && !new) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (table)
		return S_ISREG(st.st_mode) ? add_file(u, name, &st) : 0;
	if (now() - st.st_mtim.tv_sec > WRITING_TIME)
		unlinkat(fd, name, 0);
	return 0;
}

static int list_files(struct usage *u, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	while (!r && (entry = readdir(dir)))
		r = look_at(u, fd, entry->d_name);
	closedir(dir);
	return r;
}

static int by_use(const void *a, const void *b)
{
	const struct used_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

int table_usage_limit(int fd, uint64_t limit)
{
	struct usage u = {0};
	int r = list_files(&u, fd);

	if (!r && u.bytes > limit) {
		qsort(u.files, u.count, sizeof(*u.files), by_use);
		for (size_t i = 0; i < u.count && u.bytes > limit / 4 * 3; i++) {
			if (!unlinkat(fd, u.files[i].name, 0) || errno == ENOENT)
				u.bytes -= u.files[i].size;
		}
	}
	free(u.files);
	return r;
}
