/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/lineage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/living_thread.h"
#include "base/process_stat.h"

/* Bytes of a function that are compared. */
#define COMPARED 4096

struct lineage lineage_of_child(pid_t parent, const struct lineage *of)
{
	struct lineage child = {.pids = {parent}, .count = 1};

	for (; child.count < LINEAGE_MAX && child.count <= of->count; child.count++)
		child.pids[child.count] = of->pids[child.count - 1];
	return child;
}

static int read_program(void *ctx, pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	return stat(path, ctx) ? -ENOENT : 0;
}

static bool is_same_program(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

struct lineage lineage_read(pid_t pid)
{
	struct lineage lineage = {0};
	struct stat own, other;

	if (living_thread_try(pid, read_program, &own))
		return lineage;
	while (lineage.count < LINEAGE_MAX) {
		pid = process_parent(pid);
		if (pid <= 1 || living_thread_try(pid, read_program, &other) ||
		    !is_same_program(&own, &other))
			break;
		lineage.pids[lineage.count++] = pid;
	}
	return lineage;
}

bool lineage_shares(const struct remote_process *child, pid_t other, uint64_t start, uint64_t size)
{
	const struct remote_process parent = {child->reader, other};
	size_t length = size < COMPARED ? (size_t)size : COMPARED;
	uint8_t own[COMPARED], its[COMPARED];
	int r = process_read(&parent, start, its, length);

	if (r)
		return r == -ESRCH;
	return !process_read(child, start, own, length) && !memcmp(own, its, length);
}
