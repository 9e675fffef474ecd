/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_grant.h - which files whoever reads a file may have opened.
 *
 * The file itself; what is in its folder and in .debug there, and below the folders of the
 * debug path, where its debug file is looked for.  The same in the roots of processes.
 */
#ifndef BOBBIN_SYMBOL_FILE_GRANT_H
#define BOBBIN_SYMBOL_FILE_GRANT_H

#include <limits.h>
#include <stdbool.h>

#include "target/mapped_file.h"

/* Each NULL if there is none; a path is that of a file, in @symfs unless that is NULL. */
struct file_grant {
	const char *path, *open_path, *symfs, *debug_path, *inside;
	const struct file_roots *roots;
};

/* What of @path is below @folder, from a slash on; or NULL. */
const char *path_below(const char *path, const char *folder);

/* Whether a path is granted, and @ret, by which it is then to be opened. */
bool file_grant_covers(const struct file_grant *grant, const char *path, char ret[PATH_MAX]);

#endif
