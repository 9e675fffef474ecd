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

#include "cli/naming.h"
#include "cli/targets.h"
#include "export/flamegraph.h"
#include "export/report.h"

/**
 * struct arguments - options and operands; members that a command has no option for are zero
 * @operands, @operand_count: what follows the options
 * @argc, @argv: everything, as it was typed but for the order
 * @input, @output: of -i and -o
 * @address, @has_address: of a section
 * @targets: of -p and -t
 * @call_graph: what perf would have done, or NULL
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
	struct naming_options naming;
	/* record */
	struct targets targets;
	uint64_t frequency, stack_bytes, max_stack;
	const char *call_graph;
	bool no_names, all, bpf, also_copy;
	/* report, script, flamegraph, stack */
	bool unfolded, folded, one;
	unsigned int fields;
	struct report_options report;
	struct flamegraph_options flamegraph;
	/* sframe */
	bool in_place, section_only, side_file, share, against_cfi, has_address;
	uint64_t version, address;
};

#endif
