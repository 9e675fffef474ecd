/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/proc_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_line(int pid, char *line, proc_maps_sink sink, void *ctx)
{
	struct proc_map map;

	line[strcspn(line, "\n")] = 0;
	if (!proc_map_parse(line, &map))
		return -EBADMSG;
	map.pid = pid;
	return sink(ctx, &map);
}

int proc_maps_parse(int pid, char *text, proc_maps_sink sink, void *ctx)
{
	int r = 0;

	while (*text && !r) {
		char *end = text + strcspn(text, "\n"), *next = *end ? end + 1 : end;

		r = read_line(pid, text, sink, ctx);
		text = next;
	}
	return r;
}

int proc_maps_read(const struct remote_process *process, proc_maps_sink sink, void *ctx)
{
	char name[32], *line = NULL;
	size_t room = 0;
	int fd, r = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", process->pid);
	fd = process_text_open(process, name);
	if (fd == -ENOENT)
		return -ESRCH;
	if (fd < 0)
		return fd == -EACCES ? -EPERM : fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	errno = 0; /* fdopen() may have left anything there */
	while (!r && getline(&line, &room, f) > 0)
		r = read_line(process->pid, line, sink, ctx);
	/* the kernel checks when it reads, too */
	if (!r && ferror(f))
		r = errno == EACCES || errno == EPERM ? -EPERM : -EIO;
	free(line);
	fclose(f);
	return r;
}
