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

static bool copy_roots(const struct file_roots *roots, struct file_roots *ret)
{
	for (unsigned int i = 0; i < file_roots_count(roots); i++) {
		ret->list[i] = strdup(roots->list[i]);
		if (!ret->list[i])
			return false;
	}
	return true;
}

int file_paths_init(struct file_paths *paths, const struct symbol_file *file)
{
	if (copy(file->path, &paths->path) && copy(file->open_path, &paths->open_path) &&
	    copy(file->inside, &paths->inside) && copy_roots(&file->roots, &paths->roots))
		return 0;
	file_paths_fini(paths);
	return -ENOMEM;
}

int file_paths_set(struct file_paths *paths, const struct symbol_file *file)
{
	struct file_paths others = {0};
	int err = file_paths_init(&others, file);

	if (err)
		return err;
	file_paths_fini(paths);
	*paths = others;
	return 0;
}

void file_paths_fini(struct file_paths *paths)
{
	free(paths->path);
	free(paths->open_path);
	free(paths->inside);
	for (unsigned int i = 0; i < FILE_ROOTS_MAX; i++)
		free((char *)paths->roots.list[i]);
	*paths = (struct file_paths){0};
}
