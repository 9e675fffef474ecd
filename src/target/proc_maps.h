/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_maps.h - /proc/PID/maps, see proc_pid_maps(5):
 *
 *	start-end perms offset major:minor inode   path
 */
#ifndef BOBBIN_TARGET_PROC_MAPS_H
#define BOBBIN_TARGET_PROC_MAPS_H

#include <bobbin/unwind.h>

#include "base/process_reader.h"

/* A line; @mapping.path is "" for memory without a name. */
struct proc_map {
	struct bobbin_mapping mapping;
	bool read, write, exec, shared;
};

/* A result other than 0 ends the reading and is returned. */
typedef int (*proc_maps_sink)(void *ctx, const struct proc_map *map);

/* All lines in ascending order.  0, what @sink returned, or the errno of reading, -ETIMEDOUT among them. */
int proc_maps_read(const struct remote_process *process, proc_maps_sink sink, void *ctx);

#endif
