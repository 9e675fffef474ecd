/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/proc_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number and the character after it; false: there is none, or another one comes. */
static bool take_number(const char **at, unsigned int base, char end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t number = 0;

	for (; *p && *p != end; p++) {
		unsigned int digit = *p >= 'a' ? (unsigned int)(*p - 'a') + 10
					       : (unsigned int)(*p - '0');

		if (digit >= base || number > (UINT64_MAX - digit) / base)
			return false;
		number = base * number + digit;
	}
	if (p == *at || *p != end)
		return false;
	*at = p + 1;
	*ret = number;
	return true;
}

/* As "r-xp ". */
static bool take_permissions(const char **at, struct proc_map *ret)
{
	const char *p = *at;

	if (strnlen(p, 5) < 5 || p[4] != ' ')
		return false;
	ret->read = p[0] == 'r';
	ret->write = p[1] == 'w';
	ret->exec = p[2] == 'x';
	ret->shared = p[3] == 's';
	*at = p + 5;
	return true;
}

static int read_line(int pid, char *line, proc_maps_sink sink, void *ctx)
{
	struct proc_map map = {.pid = pid};
	uint64_t major, minor;
	const char *p = line;

	line[strcspn(line, "\n")] = 0;
	if (!take_number(&p, 16, '-', &map.start) || !take_number(&p, 16, ' ', &map.end) ||
	    !take_permissions(&p, &map) || !take_number(&p, 16, ' ', &map.offset) ||
	    !take_number(&p, 16, ':', &major) || !take_number(&p, 16, ' ', &minor) ||
	    !take_number(&p, 10, ' ', &map.ino))
		return -EBADMSG;
	map.major = (uint32_t)major;
	map.minor = (uint32_t)minor;
	map.path = p + strspn(p, " ");
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
