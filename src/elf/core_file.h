/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_file.h - what a core file has of its process: memory, mappings, threads.
 *
 *	PT_LOAD		memory, of which some may be left out
 *	PT_NOTE		registers (NT_PRSTATUS, NT_FPREGSET), mapped files (NT_FILE), what the
 *			kernel told the program (NT_AUXV), its name (NT_PRPSINFO), the signal
 *			(NT_SIGINFO)
 *
 * The machine of the file decides how they are read, not the one that reads.  Memory stays in
 * the file, and is read where somebody asks for it.  Nothing is trusted: a core may be cut off, or
 * made by hand.
 */
#ifndef BOBBIN_ELF_CORE_FILE_H
#define BOBBIN_ELF_CORE_FILE_H

#include <bobbin/reason.h>
#include <sys/types.h>

#include "base/coverage.h"
#include "elf/core_contents.h"

/* Bytes of all notes: those of thirty thousand threads, each with all of its registers. */
#define CORE_NOTES_MAX ((uint64_t)256 << 20)

/*
 * Read the headers and notes of a core file.  @kept: the ranges of the file that are there, where
 * others were passed over; NULL: all of them.  -EBADMSG with a reason and a file offset;
 * -EFBIG: notes of a size that makes no sense; -ENOMEM; the errno of reading.
 */
int core_file_init(int fd, struct coverage *kept, struct bobbin_error *err, struct core_file *ret);
void core_file_fini(struct core_file *core);

/* How many of @size bytes at an address are to be had, from the first one on; a negative errno. */
ssize_t core_file_read(const struct core_file *core, uint64_t addr, void *dst, size_t size);

#endif
