/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/cgroup_path.h"

#include <stddef.h>
#include <string.h>

#define HEX "0123456789abcdef"
#define ID_LENGTH (CGROUP_CONTAINER_SIZE - 1)
#define UID_LENGTH (CGROUP_POD_SIZE - 1)
/* What watches over a container is not in it. */
#define MONITOR "conmon-"

/* Whether @text comes right before @at. */
static bool follows(const char *path, const char *at, const char *text)
{
	const size_t length = strlen(text);

	return (size_t)(at - path) >= length && !memcmp(at - length, text, length);
}

/* Where the next ID begins: a name of its own, or the end of one but for its kind; or the path's end. */
static const char *next_id(const char *path, const char *at)
{
	while (*(at += strcspn(at, HEX))) {
		const size_t length = strspn(at, HEX);
		const char *end = at + length;
		const bool begins = at == path || strchr("/-:", at[-1]);

		if (length == ID_LENGTH && begins && (!*end || strchr("/.:", *end)))
			break;
		at = end;
	}
	return at;
}

static const char *last_container(const char *path)
{
	const char *found = NULL;

	for (const char *at = path; *(at = next_id(path, at)); at += ID_LENGTH)
		if (!follows(path, at, MONITOR))
			found = at;
	return found;
}

bool cgroup_container(const char *path, char ret[CGROUP_CONTAINER_SIZE])
{
	const char *id = last_container(path);

	if (!id)
		return false;
	memcpy(ret, id, ID_LENGTH);
	ret[ID_LENGTH] = '\0';
	return true;
}

/* In the names of slices dashes stand for what is above them, and UIDs have underscores. */
static bool read_uid(const char *at, char ret[CGROUP_POD_SIZE])
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	for (size_t i = 0; i < UID_LENGTH; i++) {
		if (!at[i] || !strchr(form[i] == '-' ? "-_" : HEX, at[i]))
			return false;
		ret[i] = at[i] == '_' ? '-' : at[i];
	}
	ret[UID_LENGTH] = '\0';
	return !at[UID_LENGTH] || strchr("/.:", at[UID_LENGTH]);
}

bool cgroup_pod(const char *path, char ret[CGROUP_POD_SIZE])
{
	char uid[CGROUP_POD_SIZE];
	bool found = false;

	for (const char *at = path; (at = strstr(at, "pod"));) {
		const bool begins = at == path || strchr("/-", at[-1]);

		at += strlen("pod");
		if (!begins || !read_uid(at, uid))
			continue;
		memcpy(ret, uid, sizeof(uid));
		found = true;
	}
	return found;
}

static bool ends_in(const char *name, size_t length, const char *suffix)
{
	const size_t size = strlen(suffix);

	return length > size && !memcmp(name + length - size, suffix, size);
}

bool cgroup_unit(const char *path, char ret[CGROUP_UNIT_SIZE])
{
	const char *container = last_container(path), *at = container ? container : path, *id = at;
	bool found = false;

	/* what is above the container runs it */
	for (; (at = strchr(at, '/')); at++) {
		const char *name = at + 1;
		const size_t length = strcspn(name, "/");

		if (id < name)
			id = next_id(path, name);
		if (length >= CGROUP_UNIT_SIZE || id < name + length ||
		    !(ends_in(name, length, ".service") || ends_in(name, length, ".scope")))
			continue;
		memcpy(ret, name, length);
		ret[length] = '\0';
		found = true;
	}
	return found;
}
