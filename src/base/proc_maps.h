/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_maps.h - /proc/PID/maps, see proc_pid_maps(5):
 *
 *	start-end perms offset major:minor inode   path
 */
#ifndef BOBBIN_BASE_PROC_MAPS_H
#define BOBBIN_BASE_PROC_MAPS_H

#include "base/process_reader.h"

struct proc_map {
	int pid; /* of the process */
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	bool read, write, exec, shared;
	const char *path; /* "" for memory without a name */
};

/* A result other than 0 ends the reading and is returned. */
typedef int (*proc_maps_sink)(void *ctx, const struct proc_map *map);

/*
 * All lines in ascending order.  0; what @sink returned; -ESRCH, -EPERM, -ETIMEDOUT or another
 * errno of reading.
 */
int proc_maps_read(const struct remote_process *process, proc_maps_sink sink, void *ctx);

#endif
