/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program_elf.h - the code of a linked ELF file, and what its symbols and relocations say of it.
 */
#ifndef BOBBIN_INFER_PROGRAM_ELF_H
#define BOBBIN_INFER_PROGRAM_ELF_H

#include <bobbin/reason.h>

#include "infer/program_code.h"

/* Bytes of a file that are read. */
#define PROGRAM_MOST_BYTES ((uint64_t)1 << 30)

/**
 * program_of_elf() - read a file
 * @fd: it, open for reading, which stays the caller's
 * @err: where and why on failure, or NULL
 * @ret: what was found, which is not settled yet; to be given to program_fini()
 *
 * Malformed symbol tables and relocations are left out: they only add to what is known.
 *
 * Return: 0; -EBADMSG or -ENOTSUP with a reason; -ENOTSUP without one: the machine is none
 * whose code can be read; -EFBIG: there is too much of it; -ENOMEM; the errno of reading.
 */
int program_of_elf(int fd, struct bobbin_error *err, struct program *ret);

#endif
