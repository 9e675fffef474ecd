/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_map_writer.c - "START SIZE NAME" in hexadecimal, a line for each function.
 *
 * Each line is one write to a file that is open for appending: lines of several
 * threads, and of other libraries in the process, do not mix.
 */
#include <bobbin/jit_names.h>

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/deps.h"
#include "jit/names_file.h"

struct bobbin_perf_map {
	int fd;
	pid_t pid;
	atomic_bool torn; /* the last line has no end */
};

BOBBIN_API int bobbin_perf_map_open(const char *directory, struct bobbin_perf_map **ret)
{
	struct bobbin_perf_map *map = malloc(sizeof(*map));
	char name[32];

	if (!map)
		return -ENOMEM;
	map->pid = getpid();
	atomic_init(&map->torn, false);
	snprintf(name, sizeof(name), "perf-%d.map", (int)map->pid);
	map->fd = names_file_open(directory ? directory : "/tmp", name, NAMES_FILE_SHARED);
	if (map->fd < 0) {
		int status = map->fd;

		free(map);
		return status;
	}
	*ret = map;
	return 0;
}

BOBBIN_API void bobbin_perf_map_close(struct bobbin_perf_map *map)
{
	if (!map)
		return;
	close(map->fd);
	free(map);
}

static size_t put_name(char *out, const char *name)
{
	size_t size = strnlen(name, NAMES_MAX_NAME);

	for (size_t i = 0; i < size; i++)
		out[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
	return size;
}

static int write_line(struct bobbin_perf_map *map, const char *line, size_t size)
{
	ssize_t n;

	do
		n = write(map->fd, line, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n == size)
		return 0;
	atomic_store(&map->torn, true);
	return -ENOSPC;
}

BOBBIN_API int bobbin_perf_map_add(struct bobbin_perf_map *map, uint64_t start, uint64_t size,
				   const char *name)
{
	char line[NAMES_MAX_NAME + 64];
	size_t length = 0;

	if (!name || !*name || !size || start + size < start)
		return -EINVAL;
	if (getpid() != map->pid)
		return -ECHILD;
	if (atomic_exchange(&map->torn, false))
		line[length++] = '\n';
	length += (size_t)sprintf(line + length, "%" PRIx64 " %" PRIx64 " ", start, size);
	length += put_name(line + length, name);
	line[length++] = '\n';
	return write_line(map, line, length);
}
