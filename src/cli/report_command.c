/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_command.c - bobbin report and flamegraph: the samples of each event, added up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/command.h"
#include "cli/input.h"
#include "export/call_tree.h"
#include "export/flamegraph.h"
#include "export/folded.h"
#include "export/report.h"

/* The samples of one event of a recording. */
struct event_report {
	const char *name; /* the session's */
	uint64_t samples, traced;
	uint64_t frames, inferred; /* of the user parts of those; of them, by rules from code */
	uint64_t reasons[BOBBIN_REASON_COUNT];
	struct report *report;
};

/* Those of all events; @one: only the first is shown. */
struct event_reports {
	struct input input;
	bool one;
	struct event_report *events; /* by their numbers */
	size_t count, room;
};

/* Prints the samples of an event.  0 or a negative errno. */
typedef int event_writer(const struct arguments *a, const struct event_report *event);

/* 0 or a negative errno. */
static int open_report(const struct arguments *a, struct event_report *event)
{
	int r;

	if (event->report)
		return 0;
	r = report_open(&event->report);
	if (!r && a->unfolded)
		report_unfold(event->report);
	return r;
}

static void count_sample(struct event_report *event, const struct stack_sample *sample)
{
	event->samples++;
	if (!sample->traced || sample->reason == BOBBIN_REASON_NO_USER ||
	    sample->reason >= BOBBIN_REASON_COUNT)
		return;
	event->traced++;
	event->reasons[sample->reason]++;
	for (size_t i = 0; i < sample->count; i++) {
		const struct bobbin_frame *frame = &sample->frames[i];

		event->frames += !frame->kernel && frame->source != BOBBIN_SOURCE_LEFT_OUT;
		event->inferred += !frame->kernel && frame->source == BOBBIN_SOURCE_CODE;
	}
}

static int add_sample(void *ctx, const struct stack_sample *sample)
{
	struct event_reports *reports = ctx;
	struct input *input = &reports->input;
	uint64_t weight = reports->one && !sample->weighed ? 1 : sample->period;
	struct event_report *event = &reports->events[sample->event_number];
	int r = open_report(input->arguments, event);

	if (r)
		return r;
	count_sample(event, sample);
	r = named_stack_make(&input->stack, session_naming(input->session), sample);
	return r ? r
		 : report_add(event->report, sample->comm, input->stack.frames, input->stack.count,
			      weight);
}

static const struct sample_sink report_sink = {.sample = add_sample};

/* In the order of the file; the first one is shown even if nothing has any samples. */
static int find_events(struct event_reports *reports)
{
	const struct perf_reader *reader = session_reader(reports->input.session);
	const struct perf_reader_attr *attr;
	int r = 0;

	for (size_t i = 0; !r && (attr = perf_reader_event(reader, i)); i++)
		r = vector_push(reports->events, reports->count, reports->room,
				(struct event_report){.name = attr->name});
	return r ? r : open_report(reports->input.arguments, reports->events);
}

/* Those without samples are left out, unless there are no others. */
static int write_events(const struct event_reports *reports, event_writer *write)
{
	const struct event_report *first = reports->events, *end = first + reports->count;
	const struct arguments *a = reports->input.arguments;
	int r;

	while (first + 1 < end && !first->samples)
		first++;
	r = write(a, first->samples ? first : reports->events);
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

/*
 * Open the recording, add up the samples of each event by their periods, and have @write print
 * them event by event.  @one: of the first event alone, and one by one if the event is no more
 * than a clock.  0, or an exit status after a complaint.
 */
static int report_events(struct arguments *a, bool one, event_writer *write)
{
	struct event_reports reports = {.input = {.arguments = a}, .one = one};
	int r = input_open(&reports.input);

	if (r)
		return r;
	r = !accept_file(a->input, find_events(&reports), NULL);
	if (!r)
		r = input_run(&reports.input, &report_sink, &reports);
	if (!r)
		r = write_events(&reports, write);
	for (size_t i = 0; i < reports.count; i++)
		report_close(reports.events[i].report);
	free(reports.events);
	return input_close(&reports.input) || r;
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

static int print(const struct arguments *a, const struct event_report *event)
{
	struct report_options options = a->report;

	pager_start();
	options.event = event->name;
	options.samples = event->samples;
	options.first_screen = !a->full;
	options.notes = print_reasons;
	options.ctx = (void *)event;
	return report_write(event->report, &options, stdout);
}

int run_report(struct arguments *a)
{
	int r = report_events(a, false, print);

	return !pager_end() || r;
}

static int draw(const struct arguments *a, const struct event_report *event)
{
	const struct call_tree *tree = report_tree(event->report);

	if (!call_tree_total(tree) && !a->quiet)
		complain("%s: no samples of '%s': there is nothing to draw", a->input, event->name);
	return a->folded ? folded_write(tree, stdout)
			 : flamegraph_write(tree, &a->flamegraph, stdout);
}

int run_flamegraph(struct arguments *a)
{
	return report_events(a, true, draw);
}
