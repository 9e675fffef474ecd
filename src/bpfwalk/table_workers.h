/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_workers.h - threads that compile tables of files and of registered code while samples
 * are read.
 *
 * The table of a large file takes longer than the rings of samples hold out.
 */
#ifndef BOBBIN_BPFWALK_TABLE_WORKERS_H
#define BOBBIN_BPFWALK_TABLE_WORKERS_H

#include "bpfwalk/section_tables.h"
#include "unwind/remote_table.h"

struct table_workers;

/**
 * struct wanted_table - tables of a file that are wanted, and then made
 * @module: of the file; it lives as long as the maker
 * @section: instead of a file, what was registered, to be released
 * @file: number of the file
 * @number: of the slot
 * @limit: bytes that the tables may have
 * @error: 0, or why there are none
 * @made: the tables
 */
struct wanted_table {
	struct module *module;
	struct remote_table *section;
	uint32_t file, number;
	uint64_t limit;
	int error;
	struct section_tables made;
};

/* 0 or a negative errno.  @maker may be NULL at the end, which waits for tables in the making. */
int table_workers_open(struct table_workers **ret);
void table_workers_close(struct table_workers *maker);

/* Have the tables of a file made.  0, -ENOMEM. */
int table_workers_ask(struct table_workers *maker, const struct wanted_table *wanted);

/*
 * The next file's tables, in the order in which they were wanted.  @wait: until they are made.
 * false: there are none.
 */
bool table_workers_take(struct table_workers *maker, bool wait, struct wanted_table *ret);

/* Whether there are tables to come. */
bool table_workers_is_busy(const struct table_workers *maker);

#endif
