/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arguments.h - what a command was called with.
 *
 * One struct for all commands: option_table.c says which option sets which member.
 */
#ifndef BOBBIN_CLI_ARGUMENTS_H
#define BOBBIN_CLI_ARGUMENTS_H

#include <bobbin/unwind.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/sample_filter.h"
#include "cli/targets.h"
#include "export/flamegraph.h"
#include "export/report.h"
#include "export/top_view.h"
#include "symbol/naming.h"

/* What 'script' prints, in perf's words. */
enum script_field {
	FIELD_COMM = 1 << 0,
	FIELD_PID = 1 << 1,
	FIELD_TID = 1 << 2,
	FIELD_CPU = 1 << 3,
	FIELD_TIME = 1 << 4,
	FIELD_EVENT = 1 << 5,
	FIELD_IP = 1 << 6,
	FIELD_SYM = 1 << 7,
	FIELD_DSO = 1 << 8,
	FIELD_SOURCE = 1 << 9,
	FIELD_REASON = 1 << 10,
	FIELD_PERIOD = 1 << 11,
	FIELD_SYMOFF = 1 << 12,
	FIELD_SRCLINE = 1 << 13,
	FIELD_CGROUP = 1 << 14,
};

/**
 * struct top_options - of top
 * @view: how the table is shown at first
 * @filters: texts in what the table has, or NULL
 * @iterations: tables until the end; 0: there is none
 * @entries: rows of a table that is printed
 * @batch: print the tables
 * @zero: each is of one interval only
 */
struct top_options {
	struct top_view view;
	const char *filters[TOP_FILTERS];
	uint64_t iterations, entries;
	bool batch, zero;
};

/**
 * struct agent_options - of agent
 * @max_cpu: per cent of a processor; 0: there is no limit
 * @window_ms, @keep_ms: how long a recording takes, and how long it is kept
 * @max_size: of all that are kept, in bytes
 * @otlp: where they are sent, or NULL
 * @metrics: where the page of metrics listens, or NULL
 */
struct agent_options {
	double max_cpu;
	uint64_t window_ms, keep_ms, max_size;
	const char *otlp, *metrics;
};

/**
 * struct arguments - options and operands; members that a command has no option for are zero
 * @operands, @operand_count: what follows the options
 * @argc, @argv: everything, as it was typed but for the order
 * @input, @output: of -i and -o
 * @address, @has_address: of a section
 * @targets: of -p and -t
 * @scope: of -C, --cgroup and --user
 * @event_names: of -e; @events are made of them
 * @call_graph: what perf would have done, or NULL
 * @defer: call chains are the kernel's own
 * @fields: enum script_field
 */
struct arguments {
	char **operands;
	int operand_count;
	int argc;
	char **argv;
	bool quiet, verbose, json;
	const char *input, *output;
	struct bobbin_unwinder_options unwind;
	const struct infer_ops *infer; /* or NULL */
	bool has_debug_path;           /* it is no default */
	struct symbolizer_options naming;
	/* record */
	struct targets targets;
	struct scope scope;
	char *event_names;
	struct event_list events;
	uint64_t frequency, period, stack_bytes, max_stack, off_cpu_ms, duration_ms, block_bytes;
	bool has_frequency, has_off_cpu_ms, has_output;
	const char *call_graph;
	bool defer;
	bool no_names, all, bpf, no_bpf, also_copy, off_cpu, wakers, in_process, heap;
	struct top_options top;
	struct agent_options agent;
	/* report, script, flamegraph, export */
	const char *event;  /* NULL: all of them, or the first one */
	const char *format; /* export, record */
	struct sample_filter filter;
	/* report, script, flamegraph, stack */
	bool unfolded, folded, one, force, full, tui, picture, by_process, by_thread, reversed;
	bool wall_clock;
	unsigned int fields;
	struct report_options report;
	struct flamegraph_options flamegraph;
	/* stack, core */
	bool lines;
	const char *sysroot, *program, *folder;
	uint64_t pid;
	/* sframe */
	bool in_place, section_only, side_file, compiled, share, infer_rows, against_cfi,
		has_address;
	uint64_t version, address;
};

/*
 * Change @fields by a list, as of 'perf script -F': "comm,ip" is what to print, "+pid" and
 * "-ip" what more and what not; "hw:" and other types of events go before it.  false after a
 * complaint, which names the @option.
 */
bool script_fields_parse(const char *option, const char *list, unsigned int *fields);

#endif
