/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inner_file.h - an ELF file that begins in the middle of another file, as libraries do that
 * loaders map from where they are stored in an archive or a bundle.
 */
#ifndef BOBBIN_UNWIND_INNER_FILE_H
#define BOBBIN_UNWIND_INNER_FILE_H

#include <stdint.h>

/* How far before the code of a mapping the file is looked for, and what it may have, in bytes. */
#define INNER_FILE_MOST ((uint64_t)256 << 20)

/*
 * The file within @fd whose segment of code holds @offset, a multiple of a page: a copy of it in
 * memory, which is the caller's descriptor, and where it begins in @fd.  -ENOENT: there is none;
 * -ENOBUFS: it has more than @room bytes; another negative errno.
 */
int inner_file_open(int fd, uint64_t offset, uint64_t room, uint64_t *base);

#endif
