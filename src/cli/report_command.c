/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_command.c - bobbin report and flamegraph.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/event_reports.h"
#include "cli/report_screen.h"
#include "cli/top.h"
#include "export/call_tree.h"
#include "export/flamegraph.h"
#include "export/folded.h"
#include "export/report.h"
#include "export/report_json.h"
#include "export/reversed_tree.h"

/* Prints the samples of an event.  0 or a negative errno. */
typedef int event_writer(const struct arguments *a, const struct event_report *event);

/* Those without samples are left out, unless there are no others. */
static int write_events(const struct event_reports *reports, event_writer *write)
{
	const struct event_report *first = event_reports_main(reports);
	const struct event_report *end = reports->events + reports->count;
	const struct arguments *a = reports->input.arguments;
	int r = write(a, first);

	for (const struct event_report *event = first + 1; event < end && !r; event++) {
		if (!event->samples)
			continue;
		if (!reports->one)
			fputs("\n\n", stdout);
		if (!reports->one)
			r = write(a, event);
		else if (!a->quiet)
			complain("%s: samples of the event '%s' are not shown, see --event",
				 a->input, event->name);
	}
	if (r)
		complain("%s", strerror(-r));
	return !finish_output() || r;
}

/* Have @write print the events of the recording one by one; @one as for event_reports_open(). */
static int report_events(struct arguments *a, bool one, event_writer *write)
{
	struct event_reports reports;
	int r;

	if (a->wall_clock && a->event)
		return refuse_call("--wall-clock is of several events, and goes without --event");
	r = event_reports_open(a, one, &reports);
	if (!r)
		r = write_events(&reports, write);
	return event_reports_close(&reports) || r;
}

/* How the unwinding went. */
static void print_reasons(void *ctx, FILE *out)
{
	const struct event_report *event = ctx;

	if (!event->traced)
		return;
	fprintf(out, "# Stacks: %.2f %% of %" PRIu64 " are complete\n",
		percent(event->reasons[BOBBIN_REASON_OUTERMOST], event->traced), event->traced);
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (event->reasons[i] && i != BOBBIN_REASON_OUTERMOST)
			fprintf(out, "#   %6.2f %%  %s\n",
				percent(event->reasons[i], event->traced),
				bobbin_reason_str((enum bobbin_reason)i));
	if (event->inferred)
		fprintf(out,
			"# Frames: %.2f %% of %" PRIu64
			" were left by rules inferred from their code\n",
			percent(event->inferred, event->frames), event->frames);
}

static struct report_options options_of(const struct arguments *a, const struct event_report *event)
{
	struct report_options options = a->report;

	options.event = event->name;
	options.samples = event->samples;
	options.tasks = event->tasks;
	return options;
}

static int print(const struct arguments *a, const struct event_report *event)
{
	struct report_options options = options_of(a, event);

	pager_start();
	options.first_screen = !a->full;
	options.notes = print_reasons;
	options.ctx = (void *)event;
	return report_write(event->report, &options, stdout);
}

static void json_reasons(struct json_output *json, const struct event_report *event)
{
	json_object(json, "stacks");
	json_unsigned(json, "walked", event->traced);
	json_unsigned(json, "complete", event->reasons[BOBBIN_REASON_OUTERMOST]);
	json_object(json, "ended");
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (event->reasons[i])
			json_unsigned(json, bobbin_reason_name((enum bobbin_reason)i),
				      event->reasons[i]);
	json_object_end(json);
	json_unsigned(json, "frames", event->frames);
	json_unsigned(json, "inferred", event->inferred);
	json_object_end(json);
}

static int json_event(struct json_output *json, const struct arguments *a,
		      const struct event_report *event)
{
	struct report_options options = options_of(a, event);
	int r;

	json_object(json, NULL);
	r = report_json_write(event->report, &options, json);
	json_reasons(json, event);
	json_object_end(json);
	return r;
}

static int write_document(const struct event_reports *reports)
{
	const struct arguments *a = reports->input.arguments;
	struct json_output json = json_output(stdout);
	int r = 0;

	json_object(&json, NULL);
	json_string(&json, "recording", a->input);
	report_json_keys(&json, &a->report);
	json_array(&json, "events");
	for (size_t i = 0; i < reports->count && !r; i++)
		r = json_event(&json, a, &reports->events[i]);
	json_array_end(&json);
	json_object_end(&json);
	if (r)
		complain("%s", strerror(-r));
	return !finish_output() || r;
}

/* Have @use show all events together.  An exit status. */
static int report_whole(struct arguments *a, int (*use)(const struct event_reports *reports))
{
	struct event_reports reports;
	int r = event_reports_open(a, false, &reports);

	if (!r)
		r = use(&reports);
	return event_reports_close(&reports) ? 1 : r;
}

static int browse(struct arguments *a)
{
	if (a->json || a->report.n_keys)
		return refuse_call(
			"--tui shows neither a document nor other columns: --json and --sort "
			"are for what is printed");
	if (!terminal_is_usable()) {
		complain("--tui: standard input and output are no terminal that could show it");
		return 1;
	}
	report_parse_keys("comm,dso,sym,pid", &a->report);
	return report_whole(a, report_screen_show);
}

int run_report(struct arguments *a)
{
	int r;

	a->naming.lines = report_has_key(&a->report, REPORT_SRCLINE) ||
			  report_has_key(&a->report, REPORT_SRCFILE);
	if (a->tui)
		return browse(a);
	if (a->json)
		return report_whole(a, write_document);
	r = report_events(a, false, print);

	return !pager_end() || r;
}

static int draw_tree(const struct arguments *a, const struct event_report *event,
		     const struct call_tree *tree)
{
	struct flamegraph_options options = a->flamegraph;

	options.is_time = event->is_time;
	return a->folded ? folded_write(tree, stdout) : flamegraph_write(tree, &options, stdout);
}

static int draw_reversed(const struct arguments *a, const struct event_report *event,
			 const struct call_tree *tree)
{
	struct call_tree *reversed;
	int r = reversed_tree_open(tree, &reversed);

	if (r)
		return r;
	r = draw_tree(a, event, reversed);
	call_tree_close(reversed);
	return r;
}

static int draw(const struct arguments *a, const struct event_report *event)
{
	const struct call_tree *tree = report_tree(event->report);

	if (!call_tree_total(tree) && !a->quiet)
		complain("%s: no samples of '%s': there is nothing to draw", a->input, event->name);
	return a->reversed ? draw_reversed(a, event, tree) : draw_tree(a, event, tree);
}

int run_flamegraph(struct arguments *a)
{
	return report_events(a, true, draw);
}
