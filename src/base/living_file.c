/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/living_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/process_stat.h"
#include "base/regular_file.h"

#define LIST_SIZE 4096
/* Lists, while their threads have all ended when they are tried; in a row, without any thread. */
#define TRIES 100
#define EMPTY_TRIES 10

struct search {
	pid_t pid;
	living_thread_door door;
	void *ctx;
	int result; /* of the first thread, until another one is found */
	bool found;
	bool others; /* there were some */
};

static bool is_closed(int result)
{
	return result == -ESRCH || result == -ENOENT;
}

static void try_thread(struct search *s, pid_t tid)
{
	int r;

	if (tid <= 0 || tid == s->pid)
		return;
	s->others = true;
	if (!process_has_memory(tid))
		return;
	r = s->door(s->ctx, tid);
	/* the kernel has other words for a thread that is not there any more, too */
	if (r < 0 && !process_has_memory(tid))
		return;
	s->result = r;
	s->found = true;
}

static void try_some(struct search *s, const char *list, size_t size)
{
	for (size_t at = 0; at < size && !s->found;) {
		const struct dirent64 *entry = (const void *)(list + at);

		try_thread(s, atoi(entry->d_name));
		at += entry->d_reclen;
	}
}

static void try_list(struct search *s, int fd)
{
	_Alignas(struct dirent64) char list[LIST_SIZE];
	ssize_t n;

	while (!s->found && (n = getdents64(fd, list, sizeof(list))) > 0)
		try_some(s, list, (size_t)n);
}

/* A list that is read while one thread follows another may lack both. */
static void search(struct search *s)
{
	unsigned int empty = 0;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/task", s->pid);
	for (unsigned int i = 0; i < TRIES && empty < EMPTY_TRIES && !s->found; i++) {
		int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return;
		s->others = false;
		try_list(s, fd);
		close(fd);
		empty = s->others ? 0 : empty + 1;
	}
}

int living_thread_try(pid_t pid, living_thread_door door, void *ctx)
{
	struct search s = {.pid = pid, .door = door, .ctx = ctx, .result = door(ctx, pid)};

	if (is_closed(s.result) && !process_has_memory(pid))
		search(&s);
	return s.result;
}

#define FOLDER "/proc/"
#define DESCRIPTORS "/fd/"
#define TEXT_MAX ((size_t)64 << 20)

struct living_file {
	pid_t pid;
	const char *rest;  /* of the path, after the number */
	const char *below; /* the end of @rest, below a folder that is open; or NULL */
	int flags;
	struct stat *st;
	int empty; /* a descriptor of the first one that was; -1: none */
};

/* The number in a path, or 0; @rest: what comes after it. */
static pid_t process_in(const char *path, const char **rest)
{
	const char *at = path + strlen(FOLDER);
	long pid;
	char *end;

	if (strncmp(path, FOLDER, strlen(FOLDER)) || *at < '1' || *at > '9')
		return 0;
	pid = strtol(at, &end, 10);
	*rest = end;
	return *end == '/' && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* What comes after the descriptor in "/fd/N/...", from the slash on, or NULL. */
static const char *name_below(const char *rest)
{
	const char *number = rest + strlen(DESCRIPTORS), *end;

	if (strncmp(rest, DESCRIPTORS, strlen(DESCRIPTORS)))
		return NULL;
	end = number + strspn(number, "0123456789");
	return end > number && end[0] == '/' && end[1] ? end : NULL;
}

static int path_of(const struct living_file *file, pid_t tid, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, FOLDER "%d%s", tid, file->rest);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* @path: of the file; it is cut to that of the folder. */
static int open_in_folder(const struct living_file *file, char path[PATH_MAX])
{
	int root, fd;

	path[strlen(path) - strlen(file->below)] = '\0';
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = regular_file_open_in(root, file->below, file->flags, file->st);
	close(root);
	return fd;
}

static int open_regular(void *ctx, pid_t tid)
{
	const struct living_file *file = ctx;
	char path[PATH_MAX];
	int r = path_of(file, tid, path);

	if (r)
		return r;
	return file->below ? open_in_folder(file, path)
			   : regular_file_open(path, file->flags, file->st);
}

int living_file_open(const char *path, int flags, struct stat *st)
{
	struct living_file file = {.flags = flags, .st = st};

	file.pid = process_in(path, &file.rest);
	if (!file.pid)
		return regular_file_open(path, flags, st);
	file.below = name_below(file.rest);
	return living_thread_try(file.pid, open_regular, &file);
}

static int stat_path(const char *path, struct stat *ret)
{
	return stat(path, ret) ? -errno : 0;
}

static int stat_living(void *ctx, pid_t tid)
{
	const struct living_file *file = ctx;
	char path[PATH_MAX];
	int r = path_of(file, tid, path);

	return r ? r : stat_path(path, file->st);
}

int living_file_stat(const char *path, struct stat *ret)
{
	struct living_file file = {.st = ret};

	file.pid = process_in(path, &file.rest);
	return file.pid ? living_thread_try(file.pid, stat_living, &file) : stat_path(path, ret);
}

static int open_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Append what @fd still gives, up to @limit bytes, to a file. */
static int copy_rest(int to, int fd, const struct copy_limit *limit)
{
	uint64_t size = 0;
	ssize_t n;
	int r;

	do {
		n = read(fd, limit->buffer, limit->room);
		r = n < 0 ? -errno : file_append(to, limit->buffer, (size_t)n);
		if (r)
			return r;
		size += (uint64_t)n;
	} while (n > 0 && size < limit->most);
	return limit->whole && size >= limit->most ? -EFBIG : 0;
}

int copy_in_memory(int fd, const struct copy_limit *limit)
{
	int copy = memfd_create("copy", MFD_CLOEXEC), r;

	if (copy < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	r = copy_rest(copy, fd, limit);
	close(fd);
	if (!r && lseek(copy, 0, SEEK_SET))
		r = -errno;
	if (!r)
		return copy;
	close(copy);
	return r;
}

static int copy_text(int fd)
{
	char bytes[4096];

	return copy_in_memory(fd, &(struct copy_limit){bytes, sizeof(bytes), TEXT_MAX, false});
}

/* The rest of a text cannot be read once its thread has ended, but the first thread's can. */
static int open_full_text(void *ctx, pid_t tid)
{
	struct living_file *file = ctx;
	char path[PATH_MAX], byte;
	int fd = path_of(file, tid, path);

	if (!fd)
		fd = open_text(path);
	if (fd < 0)
		return fd;
	if (pread(fd, &byte, 1, 0))
		return tid == file->pid ? fd : copy_text(fd);
	if (file->empty < 0)
		file->empty = fd;
	else
		close(fd);
	return -ESRCH;
}

int living_text_open(const char *path)
{
	struct living_file file = {.empty = -1};
	int fd;

	file.pid = process_in(path, &file.rest);
	fd = file.pid ? living_thread_try(file.pid, open_full_text, &file) : open_text(path);
	if (fd == -ESRCH && file.empty >= 0)
		return file.empty;
	if (file.empty >= 0)
		close(file.empty);
	return fd;
}
