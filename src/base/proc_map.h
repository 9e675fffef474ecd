/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_map.h - a line of /proc/PID/maps, see proc_pid_maps(5):
 *
 *	start-end perms offset major:minor inode   path
 */
#ifndef BOBBIN_BASE_PROC_MAP_H
#define BOBBIN_BASE_PROC_MAP_H

#include <bobbin/types.h>

struct proc_map {
	int pid; /* of the process */
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	bool read, write, exec, shared;
	const char *path; /* "" for memory without a name */
};

/*
 * @line: without the newline; the path is borrowed from it, and the PID is 0.  false: it is no such
 * line.  Async-signal-safe.
 */
bool proc_map_parse(const char *line, struct proc_map *ret);

#endif
