/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_tables.h - which tables the program in the kernel walks mapped and registered code by.
 *
 *	mapped file          ──► worker ──► tables of its sections ┐
 *	registered section   ──► worker ──► its table              ├─► store
 *	registered JIT table ──► copy of what it has now           ┘
 *	code without a table ──► rules that user space has inferred, after those of the file
 *
 * Until a table is there, stacks are walked in user space.
 */
#ifndef BOBBIN_BPFWALK_BPF_TABLES_H
#define BOBBIN_BPFWALK_BPF_TABLES_H

#include <bobbin/unwind.h>

#include "bpfwalk/table_store.h"
#include "bpfwalk/walk_workers.h"
#include "target/mapping_list.h"
#include "unwind/remote_code.h"
#include "unwind/space.h"

/**
 * struct file_tables - those of a file
 * @first: the number of the first one; 0: it was not asked for; KERNEL_NO_FILE: there is none
 * @module: of the file, which lives as long as the workers; NULL: nobody has asked
 * @empty: there is none because its sections say nothing
 * @extended: inferred rules are the last one
 * @tried: times that room had been found, and one, when these were to be put there; 0: never
 */
struct file_tables {
	uint32_t first;
	struct module *module;
	bool empty, extended;
	uint64_t tried;
};

/**
 * struct bpf_tables - of all files and registered code
 * @workers: build them
 * @of_files, @of_file_count: by file number
 * @taken: tables that were built, or could not be
 * @extended: files that got inferred rules
 * @looked: how many tables there were, and room had been found, when files were asked for these
 * @list, @list_count: entries of the list that was made last, ascending
 * @whole: all tables are there that are to be in it
 * @grows: some of them are JIT tables, which grow
 */
struct bpf_tables {
	struct bobbin_unwinder *unwinder;
	struct walk_workers *workers;
	struct table_store store;
	struct file_tables *of_files;
	size_t of_file_count, of_file_room;
	uint64_t taken, extended, looked;
	struct kernel_mapping *list;
	size_t list_count, list_room;
	bool whole, grows;
};

/* The rest of @tables is zero, or the caller's.  0 or a negative errno. */
int bpf_tables_init(struct bpf_tables *tables);
void bpf_tables_fini(struct bpf_tables *tables);

/* Take in what was built, and what was inferred, since.  @wait: all that is to be built. */
void bpf_tables_take(struct bpf_tables *tables, bool wait);

/* Whether a table has come in the place of another one, for the same code. */
bool bpf_tables_replaced(struct bpf_tables *tables, uint32_t number, uint32_t before);

/*
 * From addresses in a file to offsets, of the code at offsets [@start, @end); false: there is not
 * one distance for all.
 */
bool image_delta(const struct elf_image *image, uint64_t start, uint64_t end, uint64_t *ret);

/* The entry of a mapping in a list.  false: its table is to come. */
bool bpf_tables_mapping(struct bpf_tables *tables, const struct mapping *mapping,
			struct kernel_mapping *ret);

/*
 * Make the list of a process: its mappings, overlaid by the code that it has registered.  0;
 * -ENOMEM; -E2BIG: more than a list can have.
 */
int bpf_tables_make_list(struct bpf_tables *tables, const struct bobbin_space *space);

/*
 * What the entry of an address would say now, of registered code by what lists have found out;
 * false: there is none.
 */
bool bpf_tables_entry_at(struct bpf_tables *tables, struct bobbin_space *space, uint64_t addr,
			 struct kernel_mapping *ret);

#endif
