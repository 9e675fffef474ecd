/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * private_folder.h - a folder for files that need names, but for as long as a command runs only.
 */
#ifndef BOBBIN_BASE_PRIVATE_FOLDER_H
#define BOBBIN_BASE_PRIVATE_FOLDER_H

/* Make one in @parent, mode 0700, and put its path into @ret; free() it.  0 or a negative errno. */
int private_folder_create(const char *parent, char **ret);

/* Remove it with all that is in it; links are not followed.  0 or the errno of the first failure. */
int private_folder_remove(const char *path);

#endif
