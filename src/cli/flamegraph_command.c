/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/flamegraph.h"

#include <stdio.h>

#include "cli/input.h"
#include "export/call_tree.h"
#include "export/folded.h"
#include "export/report.h"

static int draw(void *ctx, const struct input_event *event)
{
	const struct arguments *a = ctx;
	const struct call_tree *tree = report_tree(event->report);

	if (!call_tree_total(tree) && !a->quiet)
		complain("%s: no samples of '%s': there is nothing to draw", a->input, event->name);
	return a->folded ? folded_write(tree, stdout)
			 : flamegraph_write(tree, &a->flamegraph, stdout);
}

int run_flamegraph(struct arguments *a)
{
	struct input input = {.arguments = a};

	return input_report(&input, true, draw, a);
}
