/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/event_reports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/command.h"
#include "export/profile_frames.h"

#define NUMBER_SIZE 24

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

/* The labels of a sample, as text. */
struct sample_labels {
	char pid[NUMBER_SIZE], tid[NUMBER_SIZE], cpu[NUMBER_SIZE];
};

static const char *label(const struct report_options *options, enum report_key key, int64_t number,
			 char text[NUMBER_SIZE])
{
	if (!report_has_key(options, key))
		return NULL;
	snprintf(text, NUMBER_SIZE, "%" PRId64, number);
	return text;
}

static struct report_origin origin_of(const struct report_options *options,
				      const struct stack_sample *sample, const char *cgroup,
				      struct sample_labels *labels)
{
	return (struct report_origin){
		.texts = {
			[REPORT_COMM] = sample->comm,
			[REPORT_PID] = label(options, REPORT_PID, sample->pid, labels->pid),
			[REPORT_TID] = label(options, REPORT_TID, sample->tid, labels->tid),
			[REPORT_CPU] = label(options, REPORT_CPU, sample->cpu, labels->cpu),
			[REPORT_CGROUP] = report_has_key(options, REPORT_CGROUP) ? cgroup : NULL,
		}};
}

static int note_task(struct event_reports *reports, const struct stack_sample *sample)
{
	const struct report_options *options = &reports->input.arguments->report;

	if (!report_has_key(options, REPORT_PID) && !report_has_key(options, REPORT_TID))
		return 0;
	return task_names_note(&reports->tasks, sample->pid, sample->tid, sample->comm);
}

/* The event that a sample counts for, or NULL, and how much it does. */
static struct event_report *event_of(struct event_reports *reports,
				     const struct stack_sample *sample, enum wall_side *side,
				     uint64_t *weight)
{
	*side = WALL_NONE;
	*weight = reports->one && !sample->weighed ? 1 : sample->period;
	if (!reports->wall.events)
		return &reports->events[sample->event_number];
	*side = wall_clock_side(&reports->wall, sample, weight);
	return *side == WALL_NONE ? NULL : reports->events;
}

/* Equal samples are added up first: what a report does of a stack takes longer than finding it. */
static int add_sample(void *ctx, const struct stack_sample *sample)
{
	struct event_reports *reports = ctx;
	struct stack_sample own = *sample;
	enum wall_side side;
	struct event_report *event = event_of(reports, sample, &side, &own.period);
	int r = event ? open_report(reports->input.arguments, event) : 0;

	if (r || !event)
		return r;
	count_sample(event, sample);
	r = note_task(reports, sample);
	return r ? r : profile_builder_add(reports->builder, &own);
}

/* A thread may be called otherwise after its last sample. */
static int add_name(void *ctx, const struct perf_event *event)
{
	struct event_reports *reports = ctx;

	return task_names_change(&reports->tasks, (int)event->tid, event->comm.comm);
}

static const struct sample_sink report_sink = {.sample = add_sample, .record = add_name};

/* In the order of the file; the first one is shown even if nothing has any samples. */
static int find_events(struct event_reports *reports)
{
	const struct perf_reader *reader = session_reader(reports->input.session);
	const struct perf_reader_attr *attr;
	int r = 0;

	for (size_t i = 0; !r && (attr = perf_reader_event(reader, i)); i++)
		r = vector_push(reports->events, reports->count, reports->room,
				(struct event_report){.name = attr->name,
						      .tasks = &reports->tasks,
						      .is_time = wall_clock_is_wait(attr->name)});
	return r ? r : open_report(reports->input.arguments, reports->events);
}

/* Have the first event be all of the time.  0 or 1 after a complaint. */
static int take_wall_clock(struct event_reports *reports)
{
	const struct arguments *a = reports->input.arguments;
	int r = !a->wall_clock
			? 0
			: wall_clock_init(session_reader(reports->input.session), &reports->wall);

	if (r == -ENOENT || r == -ENODATA) {
		complain(r == -ENOENT ? "%s: no waits were recorded, see 'bobbin record --off-cpu'"
				      : "%s: no clock was recorded, nor cycles by frequency",
			 a->input);
		return 1;
	}
	if (!r && a->wall_clock) {
		reports->events->name = "wall-clock";
		reports->events->is_time = true;
	}
	return !accept_file(a->input, r, NULL);
}

/* What all samples of a total say of themselves. */
static struct stack_sample sample_of(const struct profile *profile,
				     const struct profile_total *total)
{
	const struct profile_thread *thread = &profile->threads[total->thread];

	return (struct stack_sample){
		.event_number = total->event,
		.pid = thread->pid,
		.tid = thread->tid,
		.cpu = total->cpu,
		.comm = thread->comm,
		.period = total->weight,
		.weighed = true,
	};
}

static int add_total(struct event_reports *reports, const struct profile *profile,
		     const struct profile_total *total, struct profile_frames *frames)
{
	const struct stack_sample sample = sample_of(profile, total);
	struct sample_labels labels;
	const struct report_origin origin = origin_of(&reports->input.arguments->report, &sample,
						      profile->threads[total->thread].cgroup,
						      &labels);
	enum wall_side side;
	uint64_t weight;
	const struct event_report *event = event_of(reports, &sample, &side, &weight);
	const struct call_frame *shown;
	struct named_stack stack;
	ssize_t n;
	int r = profile_frames_of(profile, total->stack, frames);

	if (r || !event)
		return r;
	stack = (struct named_stack){.frames = frames->frames, .count = frames->count};
	n = stack_view_make(&reports->view, &sample, &stack, side, &shown);
	return n < 0 ? (int)n
		     : report_add_of(event->report, &origin, shown, (size_t)n, total->weight);
}

static int add_totals(struct event_reports *reports)
{
	const struct profile *profile = profile_builder_profile(reports->builder);
	struct profile_frames frames = {.lines = reports->input.arguments->naming.lines};
	int r = 0;

	for (size_t i = 0; i < profile->total_count && !r; i++)
		r = add_total(reports, profile, &profile->totals[i], &frames);
	profile_frames_fini(&frames);
	return r;
}

static int add_up(struct event_reports *reports)
{
	const struct arguments *a = reports->input.arguments;
	int r = profile_builder_open(reports->input.session, false, &reports->builder);

	if (r)
		return !accept_file(a->input, r, NULL);
	profile_builder_profile(reports->builder)->by_cpu = report_has_key(&a->report, REPORT_CPU);
	r = input_run(&reports->input, &report_sink, reports);
	if (!r)
		r = !accept_file(a->input, add_totals(reports), NULL);
	profile_builder_close(reports->builder);
	reports->builder = NULL;
	return r;
}

int event_reports_open(const struct arguments *arguments, bool one, struct event_reports *ret)
{
	int r;

	*ret = (struct event_reports){.input = {.arguments = arguments},
				      .one = one,
				      .view = {.by_process = arguments->by_process,
					       .by_thread = arguments->by_thread,
					       .sides_first = !one}};
	r = input_open(&ret->input);
	if (r)
		return r;
	r = !accept_file(arguments->input, find_events(ret), NULL);
	if (!r)
		r = take_wall_clock(ret);
	return r ? r : add_up(ret);
}

int event_reports_close(struct event_reports *reports)
{
	for (size_t i = 0; i < reports->count; i++)
		report_close(reports->events[i].report);
	free(reports->events);
	task_names_fini(&reports->tasks);
	stack_view_fini(&reports->view);
	wall_clock_fini(&reports->wall);
	return reports->input.session ? input_close(&reports->input) : 0;
}

const struct event_report *event_reports_main(const struct event_reports *reports)
{
	for (size_t i = 0; i < reports->count; i++)
		if (reports->events[i].samples)
			return &reports->events[i];
	return reports->events;
}
