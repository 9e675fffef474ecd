/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_file.h - read files in a process whose C library may be broken, or where a wrapper of it would
 * be a cancellation point.
 */
#ifndef BOBBIN_CRASH_RAW_FILE_H
#define BOBBIN_CRASH_RAW_FILE_H

#include <bobbin/types.h>

/* For reading, with @flags of open(2); a negative errno. */
int raw_file_open(const char *path, int flags);
void raw_file_close(int fd);

/* Bytes from @offset on, fewer where the file ends or cannot be read. */
size_t raw_file_read_at(int fd, uint64_t offset, void *dst, size_t size);

/* The next bytes; 0: there are none. */
size_t raw_file_read(int fd, void *dst, size_t size);

/* As much of a small file as there is room for, and a NUL.  false: it cannot be opened. */
bool raw_file_text(const char *path, char *ret, size_t size);

/* "PREFIX" "number" "SUFFIX", cut to 64 bytes with the NUL. */
#define RAW_FILE_PATH 64
const char *raw_file_path(char ret[RAW_FILE_PATH], const char *prefix, unsigned int number,
			  const char *suffix);

#endif
