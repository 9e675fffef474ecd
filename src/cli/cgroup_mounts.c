/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/cgroup_mounts.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

bool folder_is_within(const char *path, const char *outer)
{
	size_t length = strlen(outer);

	return !strncmp(path, outer, length) && (!path[length] || path[length] == '/');
}

/* The next mount of cgroups, or NULL. */
static const struct mntent *next_mount(FILE *mounts)
{
	const struct mntent *m;

	do
		m = mounts ? getmntent(mounts) : NULL;
	while (m && strcmp(m->mnt_type, "cgroup") != 0 && strcmp(m->mnt_type, "cgroup2") != 0);
	return m;
}

bool cgroup_events_mount(const char *path, char ret[PATH_MAX])
{
	FILE *mounts = setmntent(path, "re");
	bool found = false, first = false;
	const struct mntent *m;

	while (!first && (m = next_mount(mounts))) {
		bool second = !strcmp(m->mnt_type, "cgroup2");

		first = !second && hasmntopt(m, "perf_event");
		if (!first && (found || !second))
			continue;
		found = true;
		snprintf(ret, PATH_MAX, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

const char *cgroup_name(const char *mounts, const char *folder)
{
	FILE *stream = setmntent(mounts, "re");
	const struct mntent *m;
	size_t longest = 0;

	while ((m = next_mount(stream))) {
		size_t length = strlen(m->mnt_dir);

		if (length > longest && folder_is_within(folder, m->mnt_dir))
			longest = length;
	}
	if (stream)
		endmntent(stream);
	return folder + longest;
}
