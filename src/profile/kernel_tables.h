/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_tables.h - compiled tables of files, where the program in the kernel finds them.
 *
 * A file's table is made from when the file is first mapped on, and stays.  Until it is there,
 * and if rules come from more than one section, stacks are walked in user space.
 */
#ifndef BOBBIN_PROFILE_KERNEL_TABLES_H
#define BOBBIN_PROFILE_KERNEL_TABLES_H

#include <bobbin/unwind.h>

#include "profile/kernel_walk_abi.h"
#include "profile/table_maker.h"
#include "target/mapping_list.h"

/**
 * struct kernel_tables - of all files
 * @maker: makes them
 * @files, @pages: memory of the maps
 * @file_count, @page_count: entries in use
 * @known, @known_count: by file number: 0, one more than its entry, or that there is none
 * @taken: tables that were made, or could not be
 * @roomless: files that have none because there was no room
 */
struct kernel_tables {
	struct bobbin_unwinder *unwinder;
	struct table_maker *maker;
	struct kernel_file *files;
	uint8_t *pages;
	uint32_t file_count, page_count;
	uint32_t *known;
	size_t known_count, known_room;
	uint64_t taken, roomless;
};

void kernel_tables_fini(struct kernel_tables *tables);

/* Take in what was made since.  @wait: all that is wanted. */
void kernel_tables_take(struct kernel_tables *tables, bool wait);

/* What the kernel is told of a mapping.  false: its table is to come. */
bool kernel_tables_mapping(struct kernel_tables *tables, const struct mapping *mapping,
			   struct kernel_mapping *ret);

#endif
