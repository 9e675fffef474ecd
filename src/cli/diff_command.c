/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * diff_command.c - bobbin diff: what has changed from one recording to another.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/event_reports.h"
#include "export/flamegraph.h"
#include "export/report_diff.h"

/* The event of a name, or NULL. */
static const struct event_report *find_event(const struct event_reports *reports, const char *name)
{
	for (size_t i = 0; i < reports->count; i++)
		if (reports->events[i].report && !strcmp(reports->events[i].name, name))
			return &reports->events[i];
	return NULL;
}

static struct report_diff_side side_of(const struct event_reports *reports,
				       const struct event_report *event)
{
	return (struct report_diff_side){event->report, reports->input.arguments->input,
					 event->samples};
}

static int write_table(const struct arguments *a, const char *event,
		       const struct report_diff_side sides[2])
{
	struct report_options options = a->report;

	options.event = event;
	if (!options.n_keys)
		report_parse_keys("dso,sym", &options);
	pager_start();
	return report_diff_write(&sides[0], &sides[1], &options, stdout);
}

static int draw(const struct arguments *a, const struct report_diff_side sides[2])
{
	struct flamegraph_options options = a->flamegraph;

	options.baseline = report_tree(sides[0].report);
	return flamegraph_write(report_tree(sides[1].report), &options, stdout);
}

static int write_diff(const struct arguments *a, const struct event_reports *before,
		      const struct event_reports *after)
{
	const struct event_report *baseline = event_reports_main(before);
	const struct event_report *compared = find_event(after, baseline->name);
	struct report_diff_side sides[2];
	int r;

	if (!compared) {
		complain("%s: no samples of '%s', which '%s' has", after->input.arguments->input,
			 baseline->name, before->input.arguments->input);
		return 1;
	}
	sides[0] = side_of(before, baseline);
	sides[1] = side_of(after, compared);
	r = a->picture ? draw(a, sides) : write_table(a, baseline->name, sides);
	if (r)
		complain("%s", strerror(-r));
	return !finish_output() || r;
}

int run_diff(struct arguments *a)
{
	struct arguments own[2] = {*a, *a};
	struct event_reports before, after = {0};
	int r;

	own[0].input = a->operands[0];
	own[1].input = a->operands[1];
	r = event_reports_open(&own[0], false, &before);
	if (!r)
		r = event_reports_open(&own[1], false, &after);
	if (!r)
		r = write_diff(a, &before, &after);
	r |= event_reports_close(&after);
	r |= event_reports_close(&before);
	return !pager_end() || r;
}
