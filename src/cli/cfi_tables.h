/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi_tables.h - the call-frame information of a file, ready to be read.
 */
#ifndef BOBBIN_CLI_CFI_TABLES_H
#define BOBBIN_CLI_CFI_TABLES_H

#include <bobbin/cfi.h>

#include "elf/elf_image.h"

/**
 * struct cfi_tables - a file and its .eh_frame and .debug_frame
 * @image: the file
 * @views: borrow from @image
 * @count: 0 to 2; 0: the file has neither
 */
struct cfi_tables {
	struct elf_image image;
	struct bobbin_cfi_view views[2];
	unsigned int count;
};

/*
 * Read the file behind @fd, which stays the caller's.  Errors as elf_image_init(),
 * and for files that are not linked or whose call-frame information cannot be read, too.
 */
int cfi_tables_init(int fd, struct bobbin_error *err, struct cfi_tables *ret);
void cfi_tables_fini(struct cfi_tables *tables);

#endif
