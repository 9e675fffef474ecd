/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/own_usage.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/process_stat.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)

static uint64_t time_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static uint64_t used_by(int who)
{
	struct rusage used;

	return getrusage(who, &used) ? 0 : time_of(&used.ru_utime) + time_of(&used.ru_stime);
}

static void add_children(const char *thread, struct own_usage *ret)
{
	char path[300];
	pid_t pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/children", thread);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1) {
		ret->cpu_ns += process_cpu_ms(pid) * NS_PER_MS;
		ret->resident += process_resident(pid);
	}
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
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");

	*ret = (struct own_usage){0};
	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			add_children(entry->d_name, ret);
	if (dir)
		closedir(dir);
	ret->resident += process_resident(0);
	ret->files = count_files();
	ret->cpu_ns += used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN);
}
