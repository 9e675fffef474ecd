/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/name_process.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path_list.h"

/* Whatever is open there is not beside the file. */
#define PROCESSES "/proc/"

static bool add_name(char path[PATH_MAX], size_t *len, const char *name, size_t size)
{
	bool slash = *len > 1;

	if (*len + slash + size >= PATH_MAX)
		return false;
	if (slash)
		path[(*len)++] = '/';
	memcpy(path + *len, name, size);
	*len += size;
	path[*len] = '\0';
	return true;
}

/* False at the root. */
static bool drop_name(char path[PATH_MAX], size_t *len)
{
	size_t at = (size_t)(strrchr(path, '/') - path);

	if (*len == 1)
		return false;
	*len = at ? at : 1;
	path[*len] = '\0';
	return true;
}

static bool add_names(char path[PATH_MAX], const char *names)
{
	size_t len = strlen(path), size;
	bool fits = true;

	for (; *names && fits; names += size) {
		names += strspn(names, "/");
		size = strcspn(names, "/");
		if (size == 2 && !memcmp(names, "..", 2))
			fits = drop_name(path, &len);
		else if (size && (size != 1 || *names != '.'))
			fits = add_name(path, &len, names, size);
	}
	return fits;
}

/*
 * From the root on, without ".", ".." and doubled slashes; by its letters alone, what links
 * lead to is not known.  False if it leads above the root, or is too long.
 */
static bool normalise(const char *path, char ret[PATH_MAX])
{
	strcpy(ret, "/");
	if (path[0] != '/' && !getcwd(ret, PATH_MAX))
		return false;
	return add_names(ret, path);
}

/* What comes after a folder's name of @len bytes and a slash, or NULL. */
static const char *name_below(const char *path, const char *folder, size_t len)
{
	if (len == 1)
		return path + 1;
	return !strncmp(path, folder, len) && path[len] == '/' ? path + len + 1 : NULL;
}

static bool is_in_debug_path(const char *debug_path, const char *path)
{
	char folder[PATH_MAX], named[PATH_MAX];
	const char *at;
	size_t len;

	while ((at = path_list_next(&debug_path, &len))) {
		if (len >= sizeof(named))
			continue;
		memcpy(named, at, len);
		named[len] = '\0';
		if (normalise(named, folder) && name_below(path, folder, strlen(folder)))
			return true;
	}
	return false;
}

/* Where the file is by its name; false: it is none, or leads out of symfs. */
static bool own_path(const struct file_grant *grant, char ret[PATH_MAX])
{
	char joined[PATH_MAX], root[PATH_MAX];
	int n;

	if (!grant->path)
		return false;
	if (!grant->symfs)
		return normalise(grant->path, ret);
	n = snprintf(joined, sizeof(joined), "%s/%s", grant->symfs, grant->path);
	return n < PATH_MAX && normalise(joined, ret) && normalise(grant->symfs, root) &&
	       name_below(ret, root, strlen(root));
}

/* @own: the normal path of a file. */
static bool is_beside(const char *own, const char *path)
{
	size_t len = (size_t)(strrchr(own, '/') - own);
	const char *name = name_below(path, own, len ? len : 1);

	if (!name || !strncmp(own, PROCESSES, strlen(PROCESSES)))
		return false;
	if (!strncmp(name, ".debug/", 7))
		name += 7;
	return *name && !strchr(name, '/');
}

/* In our own root. */
static bool covers(const struct file_grant *grant, const char *path, char ret[PATH_MAX])
{
	char own[PATH_MAX];

	/* as they are: links in them lead where the kernel says */
	if (!grant->symfs && ((grant->open_path && !strcmp(path, grant->open_path)) ||
			      (grant->path && !strcmp(path, grant->path)))) {
		snprintf(ret, PATH_MAX, "%s", path);
		return true;
	}
	if (!normalise(path, ret))
		return false;
	if (own_path(grant, own) && (!strcmp(ret, own) || is_beside(own, ret)))
		return true;
	return is_in_debug_path(grant->debug_path, ret);
}

const char *path_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && path[len] == '/' ? path + len : NULL;
}

/* In the root of a process. */
static bool covers_in_root(const struct file_grant *grant, const char *root, const char *path,
			   char ret[PATH_MAX])
{
	const struct file_grant there = {
		.path = grant->inside ? grant->inside : grant->path,
		.debug_path = grant->debug_path,
	};
	const char *below = *root ? path_below(path, root) : NULL;
	char plain[PATH_MAX];
	int n;

	if (!below || !covers(&there, below, plain))
		return false;
	n = snprintf(ret, PATH_MAX, "%s%s", root, plain);
	return n < PATH_MAX;
}

bool file_grant_covers(const struct file_grant *grant, const char *path, char ret[PATH_MAX])
{
	for (unsigned int i = 0; grant->roots && i < file_roots_count(grant->roots); i++)
		if (covers_in_root(grant, grant->roots->list[i], path, ret))
			return true;
	return covers(grant, path, ret);
}
