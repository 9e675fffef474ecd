/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_entries.h - the lines of a report: which nodes of the tree make up
 * each, and what they weigh.
 */
#ifndef BOBBIN_EXPORT_REPORT_ENTRIES_H
#define BOBBIN_EXPORT_REPORT_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name_pool.h"
#include "export/call_tree.h"
#include "export/preorder.h"
#include "export/report_options.h"

/* Where it is not known which line of which file code is of. */
#define REPORT_NO_LINE "[unknown]"
/* Between the labels of a command's node, which are its file; missing ones at the end are left out. */
#define REPORT_LABEL_GAP "\t"

/**
 * struct report_entry - a line
 * @texts: by enum report_key, NULL for what is no key: the same pointer for the same text; names
 *	and files are the tree's
 * @kernel: code of the kernel; false if the symbol is no key
 * @self: weight of the stacks that end in the entry
 * @children: weight of the stacks that the entry is in
 * @first: @n_nodes: its nodes, a range of report_entries.places
 */
struct report_entry {
	const char *texts[REPORT_KEY_COUNT];
	bool kernel;
	uint64_t self, children;
	uint32_t first, n_nodes;
};

struct report_entries {
	const struct call_tree *tree; /* borrowed */
	struct preorder order;
	struct name_pool texts; /* those that are not the tree's */
	struct report_entry *entries;
	size_t n_entries, capacity;
	uint32_t *places; /* by entry, ascending */
	bool *outermost;  /* place: no other node of its entry is above it */
	uint32_t *
		functions; /* frame: the first one of this function, whatever its line; NULL: itself */
};

/*
 * Gather the nodes of report_tree(), which must outlive the entries and not change, by the keys
 * of @options.  0 or -ENOMEM.
 */
int report_entries_init(const struct call_tree *tree, const struct report_options *options,
			struct report_entries *ret);
void report_entries_fini(struct report_entries *all);

#endif
