/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regular_file.h - open a file of unknown kind.
 *
 * To open a FIFO or a device may wait or have effects, so a path is looked at before what
 * it names is opened.  Paths that a user gave as argument are opened as they are.
 */
#ifndef BOBBIN_BASE_REGULAR_FILE_H
#define BOBBIN_BASE_REGULAR_FILE_H

#include <sys/stat.h>

/*
 * A descriptor for reading @path, if that is a regular file; @flags: 0 or O_NOFOLLOW, for
 * the last name of the path.  @st, or NULL: its status.  With O_DIRECTORY one of a folder, to
 * begin paths with (O_PATH), without its status.  A negative errno: of open(2); -ENOENT for what
 * is no regular file.
 */
int regular_file_open(const char *path, int flags, struct stat *st);

/*
 * The same for a path in the folder @root, where symbolic links lead nowhere else: an absolute
 * one begins there, and ".." ends there.  Also -ENOSYS before Linux 5.6.
 */
int regular_file_open_in(int root, const char *path, int flags, struct stat *st);

#endif
