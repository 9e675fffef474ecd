/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_columns.h - the columns of a table of entries: command, file, symbol and the other keys.
 */
#ifndef BOBBIN_EXPORT_REPORT_COLUMNS_H
#define BOBBIN_EXPORT_REPORT_COLUMNS_H

#include <stddef.h>
#include <stdio.h>

#include "export/report_entries.h"
#include "export/report_options.h"

/**
 * struct report_columns - which ones there are, from left to right, and how wide they are
 * @widths: by key, of the widest cell that was measured
 * @tasks: the options'
 */
struct report_columns {
	enum report_key keys[REPORT_KEY_COUNT];
	size_t n_keys, widths[REPORT_KEY_COUNT];
	const struct task_names *tasks;
};

/* Of @options, as wide as their titles. */
void report_columns_init(struct report_columns *columns, const struct report_options *options);

void report_columns_measure(struct report_columns *columns, const struct report_entry *entry);

/* The lines above a table; @titles and @dots are of the columns of numbers. */
void report_columns_titles(const struct report_columns *columns, const char *titles,
			   const char *dots, FILE *out);

/* The rest of a line, after its numbers. */
void report_columns_write(const struct report_columns *columns, const struct report_entry *entry,
			  FILE *out);

/* The order of entries that weigh the same: by command, symbol, file and the others. */
int report_entry_compare(const struct report_entry *a, const struct report_entry *b);

#endif
