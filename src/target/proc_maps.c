/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/mapping_list.h"

static int read_line(int pid, char *line, proc_maps_sink sink, void *ctx)
{
	struct proc_map map = {.mapping.pid = pid};
	struct bobbin_mapping *m = &map.mapping;
	char perms[5];
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m->start,
		   &m->end, perms, &m->offset, &m->major, &m->minor, &m->ino, &path) < 7 ||
	    !path)
		return -EBADMSG;
	m->path = line + path;
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
	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (!r && getline(&line, &room, f) > 0)
		r = read_line(process->pid, line, sink, ctx);
	if (!r && ferror(f))
		r = -EIO;
	free(line);
	fclose(f);
	return r;
}

static int map_code(void *ctx, const struct proc_map *map)
{
	return map->exec ? mapping_list_add(ctx, &map->mapping) : 0;
}

int mapping_list_load(struct mapping_list *maps, int pid)
{
	mapping_list_clear(maps);
	return proc_maps_read(&(struct remote_process){maps->reader, pid}, map_code, maps);
}
