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
 * Samples are gathered into entries by any of the keys, such as command, file and symbol.  An
 * entry's "self" is the weight of the stacks that end in it; its "children"
 * adds those that pass through it, each stack once however often it does.
 *
 * The call graph of an entry shows where that weight is.  With children, in
 * order of calls: whole stacks down to the entry for its own weight, and what
 * is below the entry for the rest.  Without, from the entry to its callers.
 * Either may be asked for in the other order.
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

/* An empty report.  0 or -ENOMEM. */
int report_open(struct report **ret);
void report_close(struct report *report); /* or NULL */

/*
 * Add a stack, which is copied, outermost frame first; no frames count as one unknown frame, a
 * @comm that is NULL or "" as "[unknown]".  As call_tree_add().
 */
int report_add(struct report *report, const char *comm, const struct call_frame *frames, size_t n,
	       uint64_t weight);

/**
 * struct report_origin - whose a stack is
 * @texts: by enum report_key: the command; and those labels, such as the number of the process, by
 *	which commands of one name are told apart.  NULL or "" for others.
 */
struct report_origin {
	const char *texts[REPORT_KEY_COUNT];
};

/* The same, with labels. */
int report_add_of(struct report *report, const struct report_origin *origin,
		  const struct call_frame *frames, size_t n, uint64_t weight);

/* Let another tree, which is taken over, be what was added. */
void report_replace_tree(struct report *report, struct call_tree *tree);

/* From now on show each level of a recursion.  Else the levels are one. */
void report_unfold(struct report *report);

/*
 *	main walk visit walk visit leaf ──► main walk visit leaf, walk and visit: 2 levels
 *
 * Let each recursion of up to REPEAT_MAX_PERIOD functions appear once in a stack of @n frames, of
 * which those that stay know their levels; how many are left.  What has no name is not folded: it
 * need not be the same function.  A hundred levels hide what is above and below them, and two
 * stacks that differ in nothing but their number have nothing in common in a tree.
 */
size_t recursion_fold(struct call_frame *frames, size_t n);

/* What was added, below one FRAME_COMMAND node per command; for the other writers. */
const struct call_tree *report_tree(const struct report *report);

/* Print.  0 or -ENOMEM.  Write errors stay in @out. */
int report_write(const struct report *report, const struct report_options *options, FILE *out);

#endif
