/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output_file.h - a file that appears whole or not at all.
 *
 * Bytes go to a file without a name in the target's folder; only when all of them
 * have arrived does it take the target's name.  Where the file system has no such files
 * it has a name of its own, TARGET.XXXXXX, meanwhile.  A device or a pipe keeps its
 * place: it gets all bytes at the end.
 */
#ifndef BOBBIN_CLI_OUTPUT_FILE_H
#define BOBBIN_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output_file {
	char *target, *temp; /* owned; no @temp: it has no name of its own */
	bool special;        /* the target is a device or a pipe */
	int fd;              /* to write to and to read from, at any offset */
};

/*
 * Start a file of this mode beside @path.  A symbolic link at @path is followed.
 * 0, -EISDIR, the errno of creating, -ENOMEM.  output_file_commit() or _discard() ends it.
 */
int output_file_init(const char *path, mode_t mode, struct output_file *ret);

/* Append bytes.  0 or a negative errno. */
int output_file_write(struct output_file *file, const void *bytes, size_t size);

/*
 * Give the file its name; it is gone on failure.  0 or a negative errno.
 */
int output_file_commit(struct output_file *file);

/* Drop the file. */
void output_file_discard(struct output_file *file);

/*
 * All of it: @size bytes become the file @path.  "-" writes to stdout.  0 or a
 * negative errno.
 */
int output_file_put(const char *path, mode_t mode, const void *bytes, size_t size);

#endif
