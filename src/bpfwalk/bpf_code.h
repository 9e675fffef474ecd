/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_code.h - tables of registered code, where the program in the kernel finds them.
 *
 * Sections with equal bytes are one table, whichever processes have registered them.  It does
 * not know where they are: mappings have the distance.  A table that no list of mappings names
 * any more gives its room to others.
 */
#ifndef BOBBIN_BPFWALK_BPF_CODE_H
#define BOBBIN_BPFWALK_BPF_CODE_H

#include "base/content_digest.h"
#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/table_workers.h"
#include "unwind/remote_code.h"

/* Instead of a file: nothing is known of any address. */
#define KERNEL_SILENT (KERNEL_RECORD - 1)

enum code_state {
	CODE_FREE,
	CODE_TO_COME,
	CODE_PLACED,
	CODE_SILENT,
	CODE_REFUSED,
	CODE_ROOMLESS,
};

struct code_slot {
	uint32_t file; /* its number in mappings, never used again */
	enum code_state state;
	uint8_t key[CONTENT_DIGEST_SIZE];
	uint32_t page, page_count;
	bool named; /* by a list, while that is found out */
};

/**
 * struct bpf_code - of all processes
 * @maker: makes the tables
 * @files, @pages: memory of the maps, which files of processes use, too
 * @slots: of the entries of files that are for registered code
 * @page_used: of the pages that are for it
 * @last_file: the last number that was given
 * @wants_room: for a table there was none
 * @changes: tables that came, and times that room was found
 * @roomless: tables for which there was no room
 */
struct bpf_code {
	struct table_workers *maker;
	struct kernel_file *files;
	uint8_t *pages;
	struct code_slot slots[KERNEL_CODE_FILES];
	uint8_t page_used[KERNEL_CODE_PAGES];
	uint32_t last_file;
	bool wants_room;
	uint64_t changes, roomless;
};

/* Whether the number of a file is one of registered code. */
static inline bool bpf_code_has(uint32_t file)
{
	return file >= KERNEL_FILES && file < KERNEL_SILENT;
}

/*
 * The entry for the table of a registered range: its number, KERNEL_NO_FILE where user space has
 * to look, KERNEL_SILENT where there is nothing to ask.  @bias: as in struct kernel_mapping.
 * false: it is to come.
 */
bool bpf_code_file(struct bpf_code *code, const struct remote_range *range, uint32_t *ret,
		   uint64_t *bias);

/* The same by what was found out before; only for a table that is new it is found out, once. */
void bpf_code_known_file(struct bpf_code *code, const struct remote_range *range, uint32_t *ret,
			 uint64_t *bias);

/* Take a table that was made. */
void bpf_code_take(struct bpf_code *code, const struct wanted_table *wanted);

/* If room was wanted, find what no list names; not while a list is being made. */
void bpf_code_make_room(struct bpf_code *code, const struct bpf_lists *lists);

#endif
