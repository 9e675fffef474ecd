/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/cgroup_files.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

#include "base/text_file.h"

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

/* The lists of /proc/PID/cgroup, from the one that tells least on. */
enum hierarchy {
	HIERARCHY_OTHER,
	HIERARCHY_SYSTEMD,
	HIERARCHY_SECOND,
	HIERARCHY_EVENTS,
	HIERARCHIES,
};

static bool has_controller(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == length && !memcmp(list, name, n))
			return true;
	}
	return false;
}

/* @controllers: what stands between a line's colons */
static enum hierarchy hierarchy_of(const char *controllers)
{
	if (!*controllers)
		return HIERARCHY_SECOND;
	if (has_controller(controllers, "perf_event"))
		return HIERARCHY_EVENTS;
	return has_controller(controllers, "name=systemd") ? HIERARCHY_SYSTEMD : HIERARCHY_OTHER;
}

/* "ID:CONTROLLERS:PATH"; @path: NULL if it is no such line */
static enum hierarchy read_line(char *line, const char **path)
{
	char *controllers = strchr(line, ':');
	char *colon = controllers ? strchr(++controllers, ':') : NULL;

	*path = colon && colon[1] == '/' ? colon + 1 : NULL;
	if (!*path)
		return HIERARCHY_OTHER;
	*colon = '\0';
	return hierarchy_of(controllers);
}

/* What a folder that was removed has behind its path. */
static void cut_mark(char *line)
{
	static const char mark[] = " (deleted)";
	const size_t length = strlen(line);

	if (length > strlen(mark) && !strcmp(line + length - strlen(mark), mark))
		line[length - strlen(mark)] = '\0';
}

const char *cgroup_of_text(char *text)
{
	const char *paths[HIERARCHIES] = {0}, *root = NULL;
	char *end;

	/* the last line may be a part of one */
	for (; (end = strchr(text, '\n')); text = end + 1) {
		const char *path;
		enum hierarchy hierarchy;

		*end = '\0';
		cut_mark(text);
		hierarchy = read_line(text, &path);
		paths[hierarchy] = path;
	}
	for (size_t i = HIERARCHIES - 1; i > HIERARCHY_OTHER; i--) {
		if (paths[i] && paths[i][1])
			return paths[i];
		root = paths[i] ? paths[i] : root;
	}
	return root;
}

bool cgroup_of_process(pid_t pid, char ret[PATH_MAX])
{
	char name[32], text[2 * PATH_MAX];
	const char *path;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	if (!text_file_read(name, text, sizeof(text)))
		return false;
	path = cgroup_of_text(text);
	if (path)
		snprintf(ret, PATH_MAX, "%s", path);
	return path;
}
