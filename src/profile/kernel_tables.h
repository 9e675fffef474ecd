/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_tables.h - compiled tables of files, where the program in the kernel finds them.
 *
 * A file's table is made when the file is first mapped, and stays.  Files whose rules come
 * from more than one section have none: their stacks are walked in user space.
 */
#ifndef BOBBIN_PROFILE_KERNEL_TABLES_H
#define BOBBIN_PROFILE_KERNEL_TABLES_H

#include <bobbin/unwind.h>

#include "profile/kernel_walk_abi.h"
#include "target/mapping_list.h"

/**
 * struct kernel_tables - of all files
 * @files, @pages: memory of the maps
 * @file_count, @page_count: entries in use
 * @known, @known_count: by file number: 0, or one more than its entry or KERNEL_NO_FILE - 1
 */
struct kernel_tables {
	struct bobbin_unwinder *unwinder;
	struct kernel_file *files;
	uint8_t *pages;
	uint32_t file_count, page_count;
	uint32_t *known;
	size_t known_count, known_room;
};

void kernel_tables_fini(struct kernel_tables *tables);

/* What the kernel is told of a mapping. */
void kernel_tables_mapping(struct kernel_tables *tables, const struct mapping *mapping,
			   struct kernel_mapping *ret);

#endif
