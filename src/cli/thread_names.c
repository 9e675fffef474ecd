/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/thread_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_file.h"
#include "base/vector.h"
#include "target/thread.h"

#define STATUS_SIZE 4096

/* "NSpid:\t4711\t12": the last number is that in the innermost namespace. */
static bool inner_number(const char *status, uint64_t *ret)
{
	const char *line = strstr(status, "\nNSpid:"), *end, *last;

	if (!line)
		return false;
	end = strchrnul(line + 1, '\n');
	last = memrchr(line, '\t', (size_t)(end - line));
	if (!last)
		return false;
	*ret = strtoull(last, NULL, 10);
	return true;
}

static void read_name(int pid, int tid, struct thread_names *names)
{
	struct thread_name name = {0};
	char path[64], status[STATUS_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (!text_file_read(path, status, sizeof(status)) || !inner_number(status, &name.tid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	if (!text_file_read(path, name.name, sizeof(name.name)))
		return;
	name.name[strcspn(name.name, "\n")] = 0;
	/* without memory the thread goes without its name */
	(void)vector_push(names->list, names->count, names->room, name);
}

void thread_names_read(int pid, struct thread_names *ret)
{
	int *tids, count = thread_list(pid, &tids);

	if (count < 0)
		return;
	for (int i = 0; i < count; i++)
		read_name(pid, tids[i], ret);
	free(tids);
	if (ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), vector_by_start);
}

const char *thread_names_find(const struct thread_names *names, int tid)
{
	const uint64_t key = (uint64_t)tid;
	const struct thread_name *found = names->count
						  ? bsearch(&key, names->list, names->count,
							    sizeof(*names->list), vector_by_start)
						  : NULL;

	return found ? found->name : NULL;
}

void thread_names_fini(struct thread_names *names)
{
	free(names->list);
	*names = (struct thread_names){0};
}
