/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * living_file.h - files of a process by paths that begin with "/proc/PID/".
 *
 * Where the first thread has ended, the file of one that lives is opened (living_thread.h).
 * Other paths are opened as they are.
 */
#ifndef BOBBIN_BASE_LIVING_FILE_H
#define BOBBIN_BASE_LIVING_FILE_H

#include <sys/stat.h>

/* stat(2), of a file of any kind.  0 or a negative errno. */
int living_file_stat(const char *path, struct stat *ret);

/*
 * As regular_file_open().  Below a folder that a process has open, "/proc/PID/fd/N/...", as
 * regular_file_open_in(): it is the root of a process.
 */
int living_file_open(const char *path, int flags, struct stat *st);

/* A file of text, for reading; or an errno.  It is empty only if it is for all threads. */
int living_text_open(const char *path);

#endif
