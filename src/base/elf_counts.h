/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_counts.h - how many headers an ELF file says that it has.
 *
 * libelf makes room for all of them when it opens a file, or reads all of them, and a
 * file with a hole can have a thousand million.
 */
#ifndef BOBBIN_BASE_ELF_COUNTS_H
#define BOBBIN_BASE_ELF_COUNTS_H

#include <stdbool.h>

/* Sections, or segments, of a file: more than objects have that linkers still can link. */
#define ELF_COUNT_MAX (1u << 20)

/*
 * Whether libelf may open the file of @fd: it has at most ELF_COUNT_MAX of both.  True
 * for what is no ELF file.  The descriptor's position is left alone.
 */
bool elf_counts_are_sane(int fd);

#endif
