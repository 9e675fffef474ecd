/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_line(int pid, char *line, proc_maps_sink sink, void *ctx)
{
	struct proc_map map = {.pid = pid};
	char perms[5];
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map.start,
		   &map.end, perms, &map.offset, &map.major, &map.minor, &map.ino, &path) < 7 ||
	    !path)
		return -EBADMSG;
	map.path = line + path;
	map.read = perms[0] == 'r';
	map.write = perms[1] == 'w';
	map.exec = perms[2] == 'x';
	map.shared = perms[3] == 's';
	return sink(ctx, &map);
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
	while (!r && getline(&line, &room, f) > 0)
		r = read_line(process->pid, line, sink, ctx);
	/* the kernel checks when it reads, too */
	if (!r && ferror(f))
		r = errno == EACCES || errno == EPERM ? -EPERM : -EIO;
	free(line);
	fclose(f);
	return r;
}
