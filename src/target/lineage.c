/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/lineage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process_stat.h"
#include "target/thread.h"

/* Those that one thread started. */
static int add_children(pid_t pid, pid_t tid, pid_t *list, int count)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/children", pid, tid);
	f = fopen(name, "re");
	if (!f)
		return count;
	while (count < DESCENDANTS_MAX && fscanf(f, "%d", &list[count]) == 1)
		count++;
	fclose(f);
	return count;
}

static int add_process(pid_t pid, pid_t *list, int count)
{
	pid_t *tids = NULL;
	int threads = thread_list(pid, &tids);

	for (int i = 0; i < threads; i++)
		count = add_children(pid, tids[i], list, count);
	free(tids);
	return count;
}

int descendants_list(pid_t pid, pid_t **ret)
{
	pid_t *list = malloc(DESCENDANTS_MAX * sizeof(*list));
	int count;

	if (!list)
		return -ENOMEM;
	count = add_process(pid, list, 0);
	for (int i = 0; i < count; i++)
		count = add_process(list[i], list, count);
	*ret = list;
	return count;
}

/* Bytes of a function that are compared. */
#define COMPARED 4096

struct lineage lineage_of_child(pid_t parent, const struct lineage *of)
{
	struct lineage child = {.pids = {parent}, .count = 1};

	for (; child.count < LINEAGE_MAX && child.count <= of->count; child.count++)
		child.pids[child.count] = of->pids[child.count - 1];
	return child;
}

static bool find_program(struct process_reader *reader, pid_t pid, struct stat *ret)
{
	const struct remote_process process = {reader, pid};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !process_file_stat(&process, path, ret);
}

static bool is_same_program(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

struct lineage lineage_read(const struct remote_process *process)
{
	struct lineage lineage = {0};
	struct stat own, other;
	pid_t pid = process->pid;

	if (!find_program(process->reader, pid, &own))
		return lineage;
	while (lineage.count < LINEAGE_MAX) {
		pid = process_parent(pid);
		if (pid <= 1 || !find_program(process->reader, pid, &other) ||
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
