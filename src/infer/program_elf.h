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

/*
 * Read the file of @fd, which stays the caller's.  @ret is not settled yet, and to be given to
 * program_fini().  Malformed symbol tables and relocations are left out: they only add to what is
 * known.  0; -EBADMSG or -ENOTSUP with a reason in @err, or NULL; -ENOTSUP without one: the machine
 * is none whose code can be read; -EFBIG: there is too much of it; -ENOMEM; the errno of reading.
 */
int program_of_elf(int fd, struct bobbin_error *err, struct program *ret);

#endif
