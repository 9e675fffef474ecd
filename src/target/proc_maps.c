/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/maps, see proc_pid_maps(5):
 *
 *	start-end perms offset major:minor inode   path
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "target/space.h"

static int map_line(struct bobbin_space *space, int pid, char *line)
{
	struct bobbin_mapping m = {.pid = pid};
	char perms[5];
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &m.end, perms, &m.offset, &m.major, &m.minor, &m.ino, &path) < 7 ||
	    !path)
		return -EBADMSG;
	if (perms[2] != 'x')
		return 0;
	m.path = line + path;
	return bobbin_space_map(space, &m);
}

BOBBIN_API int bobbin_space_load(struct bobbin_space *space, int pid)
{
	char name[32], *line = NULL;
	size_t room = 0;
	FILE *f;
	int r = 0;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	bobbin_space_clear(space);
	while (!r && getline(&line, &room, f) > 0)
		r = map_line(space, pid, line);
	if (!r && ferror(f))
		r = -EIO;
	free(line);
	fclose(f);
	return r;
}
