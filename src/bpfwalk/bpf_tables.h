/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_tables.h - which tables the program in the kernel walks mapped and registered code by.
 *
 *	mapped file          ──► worker ──► tables of its sections ┐
 *	registered section   ──► worker ──► its table              ├─► store
 *	registered JIT table ──► copy of what it has now           ┘
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

/**
 * struct bpf_tables - of all files and registered code
 * @workers: build them
 * @of_files, @of_file_count: by file number: the number of the file's first table, 0: it was not
 *	asked for; KERNEL_NO_FILE: it has none
 * @taken: tables that were built, or could not be
 */
struct bpf_tables {
	struct bobbin_unwinder *unwinder;
	struct walk_workers *workers;
	struct table_store store;
	uint32_t *of_files;
	size_t of_file_count, of_file_room;
	uint64_t taken;
};

/* The rest of @tables is zero, or the caller's.  0 or a negative errno. */
int bpf_tables_init(struct bpf_tables *tables);
void bpf_tables_fini(struct bpf_tables *tables);

/* Take in what was built since.  @wait: all that is wanted. */
void bpf_tables_take(struct bpf_tables *tables, bool wait);

/* The entry of a mapping in a list.  false: its table is to come. */
bool bpf_tables_mapping(struct bpf_tables *tables, const struct mapping *mapping,
			struct kernel_mapping *ret);

/*
 * Put registered code over the entry of what is mapped there.  @ask: find out what its table is
 * now; else that is done only once, for a new one.  false: the table is to come.
 */
bool bpf_tables_registered(struct bpf_tables *tables, const struct remote_range *range, bool ask,
			   struct kernel_mapping *entry);

#endif
