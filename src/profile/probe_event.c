/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/probe_event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/regular_file.h"
#include "profile/tracepoint.h"

#define GROUP "bobbin"
#define LIST "uprobe_events"
#define LINE_SIZE 512

/* The kernel takes what one write(2) brings. */
static int tell_kernel(const char *line)
{
	int folder = tracepoint_folder(), fd, r = 0;

	if (folder < 0)
		return folder;
	/* without O_TRUNC, which would remove everybody's */
	fd = openat(folder, LIST, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		r = -errno;
	else if (write(fd, line, strlen(line)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	close(folder);
	return r;
}

static void remove_event(const char *name)
{
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "-:" GROUP "/%s\n", name);
	tell_kernel(line);
}

/* A name of ours that no other recorder has, in whatever namespace it is. */
static void choose_name(char name[PROBE_NAME_SIZE])
{
	snprintf(name, PROBE_NAME_SIZE, "p%d_%" PRIx64, (int)getpid(), clock_now());
}

int probe_event_open(const char *path, uint64_t offset, bool returns, struct probe_event *ret)
{
	char line[LINE_SIZE], full[PROBE_NAME_SIZE + sizeof(GROUP)];
	struct probe_event probe = {0};
	int fd = regular_file_open(path, 0, NULL), r;

	*ret = probe;
	if (fd < 0)
		return fd;
	choose_name(probe.name);
	/* the path itself may have spaces */
	snprintf(line, sizeof(line), "%c:" GROUP "/%s /proc/self/fd/%d:0x%" PRIx64 "\n",
		 returns ? 'r' : 'p', probe.name, fd, offset);
	r = tell_kernel(line);
	close(fd);
	if (r)
		return r;
	snprintf(full, sizeof(full), GROUP ":%s", probe.name);
	r = tracepoint_find(full, NULL, 0, &probe.id);
	if (r)
		remove_event(probe.name);
	else
		*ret = probe;
	return r;
}

void probe_event_close(struct probe_event *probe)
{
	if (*probe->name)
		remove_event(probe->name);
	*probe->name = '\0';
}

/* A description whose recorder is gone; one that is in use cannot be removed. */
static bool is_left(const char *name)
{
	long pid = *name == 'p' ? strtol(name + 1, NULL, 10) : 0;

	return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

static void clean_line(const char *line)
{
	const char *start = strchr(line, ':'), *end;
	char name[PROBE_NAME_SIZE];

	if (!start || strncmp(start + 1, GROUP "/", sizeof(GROUP)) != 0)
		return;
	start += 1 + sizeof(GROUP);
	end = strchr(start, ' ');
	if (!end || end - start >= (long)sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(end - start), start);
	if (is_left(name))
		remove_event(name);
}

void probe_events_clean(void)
{
	int folder = tracepoint_folder(), fd = -1;
	char *line = NULL;
	size_t room = 0;
	FILE *list = NULL;

	if (folder >= 0)
		fd = openat(folder, LIST, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		list = fdopen(fd, "r");
	while (list && getline(&line, &room, list) > 0)
		clean_line(line);
	free(line);
	if (list)
		fclose(list);
	else if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
}
