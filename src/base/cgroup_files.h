/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_files.h - where cgroups are mounted, and which one a process is in.
 */
#ifndef BOBBIN_BASE_CGROUP_FILES_H
#define BOBBIN_BASE_CGROUP_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define MOUNTS_FILE "/proc/self/mounts"

/* Where the cgroups are that events know; @mounts: as MOUNTS_FILE.  false: nowhere. */
bool cgroup_events_mount(const char *mounts, char ret[PATH_MAX]);

/*
 * The name of a cgroup within its hierarchy, of the path of its folder in any of them: whoever
 * makes cgroups of version 1 makes the same for all controllers.  Other paths are names.
 */
const char *cgroup_name(const char *mounts, const char *folder);

/* Whether a folder is the other one or below it; both without links in their paths. */
bool folder_is_within(const char *path, const char *outer);

/*
 * The path of the cgroup that tells most of a process, of the text of its /proc/PID/cgroup, which
 * is changed and is where the path is.  Hierarchies in which it is in the root tell nothing, so
 * one is asked after the other: that of perf_event, which a manager of containers has moved it in,
 * version 2, and systemd's own.  "/" if they all do so; NULL: the text has none of them.
 */
const char *cgroup_of_text(char *text);

/* The same of a process, cut off if it is longer than any folder's.  false: it is gone, or in none. */
bool cgroup_of_process(pid_t pid, char ret[PATH_MAX]);

#endif
