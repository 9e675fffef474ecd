/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_tables.h - compiled tables of files, where the program in the kernel finds them.
 *
 * A file's tables are made from when the file is first mapped on.  Until they are there, stacks
 * are walked in user space.  They stay until room is short and nobody maps the file any more; then
 * those that were not used for longest go.  The file's number stays its own.
 */
#ifndef BOBBIN_BPFWALK_BPF_TABLES_H
#define BOBBIN_BPFWALK_BPF_TABLES_H

#include <bobbin/unwind.h>

#include "bpfwalk/bpf_code.h"
#include "bpfwalk/page_allocator.h"
#include "target/mapping_list.h"

enum file_state {
	FILE_UNASKED,
	FILE_TO_COME,
	FILE_PLACED,
	FILE_ROOMLESS, /* there was no room, but may be later */
	FILE_WITHOUT,
};

/**
 * struct known_file - the tables of a file
 * @entry, @entry_count: of the map of files, once it has some; the last one is the first to ask
 * @runs: of pages, of the entries
 * @used: when somebody has mapped it last, as far as is known
 * @named: by a list, while that is found out
 */
struct known_file {
	enum file_state state;
	uint32_t entry, entry_count;
	struct page_run runs[KERNEL_SECTIONS];
	uint64_t used;
	bool named;
};

/**
 * struct bpf_tables - of all files
 * @maker: makes them
 * @code: those of registered code; or NULL
 * @files, @pages: memory of the maps
 * @file_count: entries in use
 * @room: pages that are not
 * @known, @known_count: by file number
 * @owners: of entries of files, their files' numbers
 * @looked: when it was last tried to find room
 * @taken: tables that were made, or could not be
 * @roomless: files that have none because there was no room
 */
struct bpf_tables {
	struct bobbin_unwinder *unwinder;
	struct table_workers *maker;
	struct bpf_code *code;
	struct kernel_file *files;
	uint8_t *pages;
	uint32_t file_count;
	struct page_allocator room;
	struct known_file *known;
	size_t known_count, known_room;
	uint32_t owners[KERNEL_FILES];
	uint64_t looked;
	uint64_t taken, roomless;
};

/* The rest of @tables is zero, or the caller's.  0 or -ENOMEM. */
int bpf_tables_init(struct bpf_tables *tables);
void bpf_tables_fini(struct bpf_tables *tables);

/* Take in what was made since, also for registered code.  @wait: all that is wanted. */
void bpf_tables_take(struct bpf_tables *tables, bool wait);

/* If room is short, take that of tables that no list names. */
void bpf_tables_make_room(struct bpf_tables *tables, const struct bpf_lists *lists);

/* What the kernel is told of a mapping.  false: its table is to come. */
bool bpf_tables_mapping(struct bpf_tables *tables, const struct mapping *mapping,
			struct kernel_mapping *ret);

/* What the kernel is told of the inode of a mapped file; false: it has no table, or not yet. */
bool bpf_tables_inode_file(struct bpf_tables *tables, const struct mapping *mapping,
			   struct kernel_inode_file *ret);

#endif
