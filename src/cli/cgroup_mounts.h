/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_mounts.h - where the folders of cgroups are.
 *
 * Version 2 has one hierarchy, version 1 one for each controller or few of them.  Perf events
 * know that of the controller perf_event, which is version 2's unless it is mounted by itself.
 */
#ifndef BOBBIN_CLI_CGROUP_MOUNTS_H
#define BOBBIN_CLI_CGROUP_MOUNTS_H

#include <limits.h>
#include <stdbool.h>

/* Where the cgroups are that events know; @mounts: as /proc/self/mounts.  false: nowhere. */
bool cgroup_events_mount(const char *mounts, char ret[PATH_MAX]);

/*
 * The name of a cgroup within its hierarchy, of the path of its folder in any of them: whoever
 * makes cgroups of version 1 makes the same for all controllers.  Other paths are names.
 */
const char *cgroup_name(const char *mounts, const char *folder);

/* Whether one of two folders, both without links in their paths, is below the other or the same. */
bool folder_is_within(const char *path, const char *outer);

#endif
