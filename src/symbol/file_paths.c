/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/file_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* False: there is no memory. */
static bool copy(const char *path, char **ret)
{
	*ret = path ? strdup(path) : NULL;
	return *ret || !path;
}

int file_paths_init(struct file_paths *paths, const struct symbol_file *file)
{
	if (copy(file->path, &paths->path) && copy(file->open_path, &paths->open_path) &&
	    copy(file->root, &paths->root) && copy(file->root_name, &paths->root_name))
		return 0;
	file_paths_fini(paths);
	return -ENOMEM;
}

int file_paths_set(struct file_paths *paths, const char *path, const char *open_path)
{
	char *new_path, *new_open_path = NULL;

	if (!copy(path, &new_path) || !copy(open_path, &new_open_path)) {
		free(new_path);
		return -ENOMEM;
	}
	free(paths->path);
	free(paths->open_path);
	paths->path = new_path;
	paths->open_path = new_open_path;
	return 0;
}

void file_paths_fini(struct file_paths *paths)
{
	free(paths->path);
	free(paths->open_path);
	free(paths->root);
	free(paths->root_name);
	*paths = (struct file_paths){0};
}
