/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/own_usage.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

static uint64_t time_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static uint64_t used_by(int who)
{
	struct rusage used;

	return getrusage(who, &used) ? 0 : time_of(&used.ru_utime) + time_of(&used.ru_stime);
}

/* Fields 14, 15 and 24 of proc_pid_stat(5), which begin after the command's last bracket. */
static void add_process(long pid, struct own_usage *ret)
{
	const uint64_t tick = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK),
		       page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t user, system, resident;
	char path[32], line[1024], *rest;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	rest = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!rest || sscanf(rest,
			    ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
			    " %*d %*d %*d %*d %*d %*d %*u %*u %" SCNu64,
			    &user, &system, &resident) != 3)
		return;
	ret->cpu_ns += (user + system) * tick;
	ret->resident += resident * page;
}

static void add_children(const char *thread, struct own_usage *ret)
{
	char path[300];
	long pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/children", thread);
	f = fopen(path, "re");
	while (f && fscanf(f, "%ld", &pid) == 1)
		add_process(pid, ret);
	if (f)
		fclose(f);
}

static size_t count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t count = 0;

	while (dir && (entry = readdir(dir)))
		count += *entry->d_name != '.';
	if (dir)
		closedir(dir);
	return count;
}

void own_usage_read(struct own_usage *ret)
{
	struct own_usage self = {0};
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");

	*ret = (struct own_usage){0};
	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			add_children(entry->d_name, ret);
	if (dir)
		closedir(dir);
	add_process(getpid(), &self);
	ret->resident += self.resident;
	ret->files = count_files();
	ret->cpu_ns += used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}
