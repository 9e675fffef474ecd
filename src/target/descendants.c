/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/descendants.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
