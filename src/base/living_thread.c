/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/living_thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process_stat.h"

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
