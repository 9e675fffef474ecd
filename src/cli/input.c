/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/input.h"

#include "base/vector.h"
#include "symbol/recorded_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void warn_about_damage(const struct input *input)
{
	const struct perf_reader *reader = session_reader(input->session);
	const struct perf_reader_stats *stats = perf_reader_stats(reader);

	if (input->arguments->quiet)
		return;
	if (perf_reader_truncated(reader))
		complain("%s: the recording was cut off; showing what is there",
			 input->arguments->input);
	if (stats->lost)
		complain("%s: %" PRIu64 " records were lost while recording",
			 input->arguments->input, stats->lost);
}

/* The names that are kept in the recording, and what names the others. */
static int open_names(struct input *input)
{
	const struct arguments *a = input->arguments;
	struct perf_span feature = perf_reader_feature(session_reader(input->session),
						       RECORDED_NAMES_FEATURE);
	struct naming_options naming = a->naming;
	struct recorded_names *kept = NULL;
	struct bobbin_error err;
	int r = recorded_names_open(perf_feature_bytes(feature), feature.offset, &err, &kept);

	if (r && !a->quiet)
		complain_file(a->input, r, &err);
	if (!a->quiet)
		complain_of_names(&naming);
	naming.debug_path = a->has_debug_path ? a->unwind.debug_path : NULL;
	return naming_open(&naming, session_unwinder(input->session), kept, &input->naming);
}

int input_open(struct input *input)
{
	const struct arguments *a = input->arguments;
	struct bobbin_error err;
	const char *path;
	int r;

	if (spool_open(a->input, a->force, &input->spool, &path)) {
		spool_close(&input->spool);
		return 1;
	}
	r = session_open(path, &a->unwind, a->infer, &err, &input->session);
	/* it is mapped, or refused */
	spool_close(&input->spool);
	if (!accept_file(a->input, r, &err))
		return 1;
	r = open_names(input);
	if (r) {
		input_close(input);
		complain("%s", strerror(-r));
		return 1;
	}
	warn_about_damage(input);
	return 0;
}

int input_close(struct input *input)
{
	struct naming_loss loss = {0};

	if (input->naming)
		loss = naming_loss(input->naming);
	if (input->naming && !input->arguments->quiet)
		tell_replaced(input->naming);
	naming_close(input->naming);
	named_stack_fini(&input->stack);
	session_close(input->session);
	input->naming = NULL;
	input->session = NULL;
	return tell_naming_loss(&loss);
}

/* Once in 4096 samples, and only on a terminal. */
static void show_progress(const struct input *input)
{
	static const uint64_t step = 4096;
	uint64_t all = perf_reader_stats(session_reader(input->session))->samples;

	if (input->arguments->quiet || input->samples % step || !all || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%3" PRIu64 " %%", 100 * input->samples / all);
}

static void end_progress(const struct input *input)
{
	if (!input->arguments->quiet && input->samples >= 4096 && isatty(STDERR_FILENO))
		fputs("\r     \r", stderr);
}

static bool is_wanted(const struct input *input, const struct stack_sample *sample)
{
	const char *wanted = input->arguments->event;

	return !wanted || !strcmp(wanted, sample->event);
}

/* What is between a recording and the sink of a command. */
struct choice {
	struct input *input;
	const struct sample_sink *sink;
	void *ctx;
};

static int pass_wanted(void *ctx, const struct stack_sample *sample)
{
	const struct choice *choice = ctx;

	if (!is_wanted(choice->input, sample))
		return 0;
	choice->input->samples++;
	show_progress(choice->input);
	return choice->sink->sample(choice->ctx, sample);
}

int input_run(struct input *input, const struct sample_sink *sink, void *ctx)
{
	static const struct sample_sink choosing_sink = {.sample = pass_wanted};
	const struct arguments *a = input->arguments;
	struct choice choice = {input, sink, ctx};
	struct bobbin_error err = {0};
	int r = session_run(input->session, &choosing_sink, &choice, &err);

	end_progress(input);
	if ((r && ferror(stdout)) || !accept_file(a->input, r, &err))
		return 1;
	if (input->samples || !a->event)
		return 0;
	complain("%s: no samples of an event '%s'", a->input, a->event);
	return 1;
}

/* 0 or a negative errno. */
static int open_report(const struct input *input, struct input_event *event)
{
	int r;

	if (event->report)
		return 0;
	r = report_open(&event->report);
	if (!r && input->arguments->unfolded)
		report_unfold(event->report);
	return r;
}

static void count_sample(struct input_event *event, const struct stack_sample *sample)
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
	struct input *input = ctx;
	uint64_t weight = input->one && !sample->weighed ? 1 : sample->period;
	struct input_event *event = &input->events[sample->event_number];
	int r = open_report(input, event);

	if (r)
		return r;
	count_sample(event, sample);
	r = named_stack_make(&input->stack, input->naming, sample);
	return r ? r
		 : report_add(event->report, sample->comm, input->stack.frames, input->stack.count,
			      weight);
}

static const struct sample_sink report_sink = {.sample = add_sample};

/* In the order of the file; the first one is shown even if nothing has any samples. */
static int find_events(struct input *input)
{
	const struct perf_reader *reader = session_reader(input->session);
	const struct perf_reader_attr *attr;
	int r = 0;

	for (size_t i = 0; !r && (attr = perf_reader_event(reader, i)); i++)
		r = vector_push(input->events, input->event_count, input->event_room,
				(struct input_event){.name = attr->name});
	return r ? r : open_report(input, input->events);
}

/* Those without samples are left out, unless there are no others. */
static int write_events(struct input *input,
			int (*write)(void *ctx, const struct input_event *event), void *ctx)
{
	const struct input_event *first = input->events, *end = first + input->event_count;
	int r;

	while (first + 1 < end && !first->samples)
		first++;
	r = write(ctx, first->samples ? first : input->events);
	for (const struct input_event *event = first + 1; event < end && !r; event++) {
		if (!event->samples)
			continue;
		if (!input->one)
			fputs("\n\n", stdout);
		if (!input->one)
			r = write(ctx, event);
		else if (!input->arguments->quiet)
			complain("%s: samples of the event '%s' are not shown, see --event",
				 input->arguments->input, event->name);
	}
	if (r)
		complain("%s", strerror(-r));
	return !finish_output() || r;
}

static void close_events(struct input *input)
{
	for (size_t i = 0; i < input->event_count; i++)
		report_close(input->events[i].report);
	free(input->events);
	input->events = NULL;
	input->event_count = input->event_room = 0;
}

int input_report(struct input *input, bool one,
		 int (*write)(void *ctx, const struct input_event *event), void *ctx)
{
	int r = input_open(input);

	if (r)
		return r;
	input->one = one;
	r = !accept_file(input->arguments->input, find_events(input), NULL);
	if (!r)
		r = input_run(input, &report_sink, input);
	if (!r)
		r = write_events(input, write, ctx);
	close_events(input);
	return input_close(input) || r;
}
