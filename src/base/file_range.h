/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_range.h - whole ranges of files, by offset.
 *
 * File positions are not used; they are the same afterwards.  Interrupted calls
 * go on.
 */
#ifndef BOBBIN_BASE_FILE_RANGE_H
#define BOBBIN_BASE_FILE_RANGE_H

#include <bobbin/types.h>
#include <stddef.h>
#include <sys/types.h>

/* Read what there is of @size bytes: how many, fewer at the file's end only; or an errno. */
ssize_t file_range_start(int fd, uint64_t offset, void *ret, size_t size);

/* Read all @size bytes.  -EIO if the file ends before; the errno of reading. */
int file_range_read(int fd, uint64_t offset, void *ret, size_t size);

/* Write all @size bytes.  The errno of writing. */
int file_range_write(int fd, uint64_t offset, const void *bytes, size_t size);

/* Write all @size bytes at the file's position, which moves, or to a pipe. */
int file_append(int fd, const void *bytes, size_t size);

/*
 * Make bytes [0, @size) of @to those of @from; holes stay holes where the file
 * system tells them, so @to should be empty.  Neither is mapped: a file that
 * shrinks meanwhile is -EIO.  -ENOMEM; the errno of reading or writing.
 */
int file_range_copy(int from, int to, uint64_t size);

#endif
