/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_paths.h - by which paths a mapped file is looked for, as in struct symbol_file.
 */
#ifndef BOBBIN_SYMBOL_FILE_PATHS_H
#define BOBBIN_SYMBOL_FILE_PATHS_H

#include "symbol/symbol.h"

/* Each NULL if there is none; @roots from malloc(), too. */
struct file_paths {
	char *path, *open_path, *inside;
	struct file_roots roots;
};

/* Copy those of @file to empty ones; after -ENOMEM they are empty, too.  Returns 0, -ENOMEM. */
int file_paths_init(struct file_paths *paths, const struct symbol_file *file);

/* Those of @file in their place.  Returns 0; -ENOMEM: nothing has changed. */
int file_paths_set(struct file_paths *paths, const struct symbol_file *file);

void file_paths_fini(struct file_paths *paths);

#endif
