/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_options.h - what a report shows.
 */
#ifndef BOBBIN_EXPORT_REPORT_OPTIONS_H
#define BOBBIN_EXPORT_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What entries are gathered by: those of a function first, which are shown if no others are chosen;
 * then those of whose it is, and of lines.
 */
enum report_key {
	REPORT_COMM,
	REPORT_DSO,
	REPORT_SYM,
	REPORT_PID,
	REPORT_TID,
	REPORT_CPU,
	REPORT_CGROUP, /* the last label, in which there may be anything */
	REPORT_SRCLINE,
	REPORT_SRCFILE,
	REPORT_KEY_COUNT
};

#define REPORT_USUAL_KEYS (REPORT_SYM + 1)
/* Keys whose texts are labels of a stack, see struct report_origin: from the first on, before the end. */
#define REPORT_FIRST_LABEL REPORT_PID
#define REPORT_LABELS_END REPORT_SRCLINE

/* As report_parse_keys() takes them, for a sentence. */
#define REPORT_KEY_NAMES "comm, dso, sym, pid, tid, cpu, cgroup, srcline and srcfile"

struct task_names;

/* Which way call graphs go, see report_graph.h. */
enum report_order {
	REPORT_ORDER_USUAL, /* with children from callers to callees, without from callees to callers */
	REPORT_CALLER,      /* from callers to callees */
	REPORT_CALLEE,      /* from callees to callers */
};

/**
 * struct report_options - what to print
 * @event: name of what was counted; NULL: "samples"
 * @samples: number of samples
 * @keys: columns from left to right, each at most once
 * @n_keys: how many; 0: command, file, symbol
 * @no_children: one column "Overhead" (self)
 * @no_graph: leave call graphs out
 * @order: of call graphs
 * @percent_limit: leave out entries below so many per cent
 * @graph_limit: leave out branches of call graphs below so many per cent; at 0
 *	the text may grow with the square of the depth
 * @first_screen: a summary instead: the functions that have most of their own, without call
 *	graphs, and the heaviest paths
 * @tasks: what threads and processes are called, for the columns of pid and tid; or NULL
 * @notes: prints lines at the end, each after "# "; or NULL
 * @ctx: for @notes
 */
struct report_options {
	const char *event;
	uint64_t samples;
	enum report_key keys[REPORT_KEY_COUNT];
	size_t n_keys;
	bool no_children;
	bool no_graph;
	enum report_order order;
	bool first_screen;
	double percent_limit;
	double graph_limit;
	const struct task_names *tasks;
	void (*notes)(void *ctx, FILE *out);
	void *ctx;
};

/*
 * Set the keys of @options by a list of REPORT_KEY_NAMES, or symbol for sym; after a "+" they follow
 * the usual ones.  0, or -EINVAL for unknown, repeated or no keys.
 */
int report_parse_keys(const char *text, struct report_options *options);

/* A key in such a list. */
const char *report_key_name(enum report_key key);

bool report_has_key(const struct report_options *options, enum report_key key);

/* Comm, file and symbol, if there are no keys. */
void report_options_complete(struct report_options *options);

/*
 * Set how call graphs are shown by a list as of perf's -g: none, or a limit in per cent, and caller
 * or callee; graph, function and percent are what they are in any case.  0, or -EINVAL for others.
 */
int report_parse_graph(const char *text, struct report_options *options);

#endif
