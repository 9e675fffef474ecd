/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.h - a profile as text, in the manner of `perf report --stdio`.
 *
 *	# Children      Self  Command  Shared Object  Symbol
 *	# ........  ........  .......  .............  ............
 *	#
 *	   100.00%     0.00%  cc1      cc1            [.] main
 *	            |
 *	            ---main
 *	               |
 *	               |--61.75%--parse
 *	               |          lex
 *	               |
 *	                --38.25%--emit
 *
 * Samples are gathered into entries by any of command, file and symbol.  An
 * entry's "self" is the weight of the stacks that end in it; its "children"
 * adds those that pass through it, each stack once however often it does.
 *
 * The call graph of an entry shows where that weight is.  With children, in
 * order of calls: whole stacks down to the entry for its own weight, and what
 * is below the entry for the rest.  Without, from the entry to its callers.
 * Percentages are of all samples throughout.  Nothing is left out in silence.
 */
#ifndef BOBBIN_EXPORT_REPORT_H
#define BOBBIN_EXPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export/call_tree.h"
#include "export/report_options.h"

struct report;

/**
 * report_open() - an empty report
 *
 * Return: 0 or -ENOMEM.
 */
int report_open(struct report **ret);

/**
 * report_close() - free a report; NULL is accepted
 */
void report_close(struct report *report);

/**
 * report_add() - add a stack
 * @comm: name of the thread; NULL or "" stands for "[unknown]"
 * @frames: outermost frame first; copied.  None count as one unknown frame.
 * @weight: 0 adds nothing
 *
 * Return: as call_tree_add().
 */
int report_add(struct report *report, const char *comm, const struct call_frame *frames, size_t n,
	       uint64_t weight);

/**
 * report_unfold() - from now on show each level of a recursion
 *
 * Without it the levels are one, and are counted: recursion.h.
 */
void report_unfold(struct report *report);

/**
 * report_tree() - what was added, below one FRAME_COMMAND node per command
 *
 * For the other writers.  Valid until report_close().
 */
const struct call_tree *report_tree(const struct report *report);

/**
 * report_parse_keys() - read a list such as "comm,dso,sym"
 * @text: perf's names: comm, dso, sym or symbol
 * @options: keys and n_keys are set
 *
 * Return: 0, or -EINVAL for unknown, repeated or no keys.
 */
int report_parse_keys(const char *text, struct report_options *options);

/**
 * report_write() - print
 * @options: NULL: REPORT_OPTIONS_DEFAULT
 *
 * Return: 0, -EINVAL for keys or limits that make no sense, -ENOMEM, or the
 * negative errno of a failed write.
 */
int report_write(const struct report *report, const struct report_options *options, FILE *out);

#endif
