/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_maker.h - a thread that compiles the tables of files while samples are read.
 *
 * The table of a large file takes longer than the rings of samples hold out.
 */
#ifndef BOBBIN_PROFILE_TABLE_MAKER_H
#define BOBBIN_PROFILE_TABLE_MAKER_H

#include "unwind/module.h"

struct table_maker;

/**
 * struct wanted_table - a table that is wanted, and then made
 * @module: of the file; it lives as long as the maker
 * @file: the file's number
 * @limit: bytes that the table may have
 * @error: 0, or why there is none
 * @data, @size: the table
 * @own: to be freed
 */
struct wanted_table {
	struct module *module;
	uint32_t file;
	uint64_t limit;
	int error;
	const uint8_t *data;
	uint64_t size;
	uint8_t *own;
};

/* 0 or a negative errno.  @maker may be NULL at the end, which waits for a table in the making. */
int table_maker_open(struct table_maker **ret);
void table_maker_close(struct table_maker *maker);

/* Have a table made, of a file's first section.  0, -ENOMEM. */
int table_maker_ask(struct table_maker *maker, const struct wanted_table *wanted);

/*
 * The next table, in the order in which they were wanted.  @wait: until it is made.  false: there
 * is none.
 */
bool table_maker_take(struct table_maker *maker, bool wait, struct wanted_table *ret);

/* Whether there are tables to come. */
bool table_maker_is_busy(const struct table_maker *maker);

#endif
