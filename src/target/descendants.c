/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/descendants.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

uint64_t process_cpu_ms(pid_t pid)
{
	uint64_t user, system, hertz = (uint64_t)sysconf(_SC_CLK_TCK);
	char name[32], line[1024], *end;
	FILE *f;
	size_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	/* the name of the program may hold anything */
	end = strrchr(line, ')');
	if (!end ||
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &user, &system) != 2)
		return 0;
	return (user + system) * 1000 / hertz;
}
