/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_lines.h - the entries of a report that are shown, in order, the heaviest first.
 */
#ifndef BOBBIN_EXPORT_REPORT_LINES_H
#define BOBBIN_EXPORT_REPORT_LINES_H

#include "export/report_entries.h"

/* Of a first screen, at most. */
#define REPORT_FIRST_LINES 20

/**
 * struct report_lines - those that are shown
 * @all: where they are
 * @left_out: of the others, those that have some weight, and their own weight
 */
struct report_lines {
	struct report_entries all;
	const struct report_entry **lines;
	size_t count, left_out_count;
	uint64_t left_out;
};

/*
 * Choose by the keys and the limit of @options, which are complete, in the order of what they show
 * first: self without children and of a first screen, else children.  0 or -ENOMEM.
 */
int report_lines_init(const struct call_tree *tree, const struct report_options *options,
		      struct report_lines *ret);
void report_lines_fini(struct report_lines *lines);

#endif
