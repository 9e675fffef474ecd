/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording_bytes.h - a regular file in memory.
 */
#ifndef BOBBIN_PROFILE_RECORDING_BYTES_H
#define BOBBIN_PROFILE_RECORDING_BYTES_H

#include <stdint.h>

/*
 * The bytes of a file, for munmap(2) unless there are none.  0; -EISDIR for a directory, -ESPIPE for
 * what is no file; or the errno of open(2), fstat(2), mmap(2).
 */
int recording_bytes_open(const char *path, const void **ret_data, uint64_t *ret_size);

#endif
