/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_file.h - the call-frame information of an ELF file, for the tests that
 * compare readers.  Sections are looked up with nothing but libelf.
 */
#ifndef BOBBIN_TESTS_CFI_FILE_H
#define BOBBIN_TESTS_CFI_FILE_H

#include <gelf.h>

#include <bobbin/cfi.h>

struct cfi_file {
	int fd;
	Elf *elf;
	const struct bobbin_arch *arch;
	struct bobbin_cfi_view eh, debug; /* frame NULL: no such section */
};

/* Return: 0; -1: not a linked 64-bit ELF file of an architecture we know. */
int cfi_file_init(struct cfi_file *file, const char *path);
void cfi_file_fini(struct cfi_file *file);

#endif
