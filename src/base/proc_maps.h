/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_maps.h - /proc/PID/maps, and a name for what a process has mapped, whatever has become of
 * its path.
 */
#ifndef BOBBIN_BASE_PROC_MAPS_H
#define BOBBIN_BASE_PROC_MAPS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/proc_map.h"
#include "base/process_reader.h"

/* A result other than 0 ends the reading and is returned. */
typedef int (*proc_maps_sink)(void *ctx, const struct proc_map *map);

/*
 * All lines in ascending order.  0; what @sink returned; -ESRCH, -EPERM, -ETIMEDOUT or another
 * errno of reading.
 */
int proc_maps_read(const struct remote_process *process, proc_maps_sink sink, void *ctx);

/* The same of lines that a process has read of itself, which are changed.  Or -EBADMSG. */
int proc_maps_parse(int pid, char *text, proc_maps_sink sink, void *ctx);

#define MAP_FILE_SIZE 64

/* The file that is mapped from @start to @end; @ret has room for MAP_FILE_SIZE bytes. */
static inline void map_file_path(int pid, uint64_t start, uint64_t end, char *ret)
{
	snprintf(ret, MAP_FILE_SIZE, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
}

/* Bytes of a path without what /proc/PID/maps appends to those of files that are unlinked. */
static inline size_t map_path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), suffix = sizeof(deleted) - 1;

	return len > suffix && !strcmp(path + len - suffix, deleted) ? len - suffix : len;
}

#endif
