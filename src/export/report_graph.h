/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_graph.h - the call graph below a line of a report.
 *
 * A branch of the graph is a set of nodes with the same name, merged.  It
 * begins with the nodes of the entry and moves in one of three directions:
 *
 *	down from the outermost frames to the entry	the entry's own weight
 *	down from the entry to its callees		weight that passed through it
 *	up from the entry to its callers		own weight, or with children all of it
 *
 * From callers to callees a graph has the first two, or without children the first alone; from
 * callees to callers the last.
 */
#ifndef BOBBIN_EXPORT_REPORT_GRAPH_H
#define BOBBIN_EXPORT_REPORT_GRAPH_H

#include <stdio.h>

#include "export/report_entries.h"

/*
 * Print the call graph of an entry, as no_children, order and graph_limit say; nothing if every branch
 * is below the limit.  0 or -ENOMEM.  Write errors stay in @out.
 */
int report_graph_write(const struct report_entries *all, const struct report_entry *entry,
		       const struct report_options *options, FILE *out);

#endif
