/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_counts.h - a report of what runs now.
 *
 *	stacks ──add──► report ──fade──► what an eighth less is left of ──► …
 *
 * The weight of a stack loses an eighth at the end of each interval, so what is shown is about
 * the last eight of them.  Memory is bounded, for days and whatever runs: where a tree has grown
 * too large, light processes are counted by the names of their commands only, and then the
 * lightest stacks as one, LIVE_COUNTS_REST.
 */
#ifndef BOBBIN_EXPORT_LIVE_COUNTS_H
#define BOBBIN_EXPORT_LIVE_COUNTS_H

#include <stdbool.h>

#include "export/report.h"

/* Nodes of the tree at most: some 16 MiB. */
#define LIVE_COUNTS_NODES ((size_t)1 << 17)

/* The name of the stacks that there was no room for. */
#define LIVE_COUNTS_REST "[left out]"

/* As report_add_of(), of a process. */
int live_counts_add(struct report *counts, const char *process, const char *comm,
		    const struct call_frame *frames, size_t n, uint64_t weight);

/* An interval is over.  @all: forget everything.  0; a negative errno: nothing has changed. */
int live_counts_fade(struct report *counts, bool all);

#endif
