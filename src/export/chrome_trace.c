/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chrome_trace.c - a profile as a trace of Chrome: samples at their times, in lanes of threads.
 *
 * Readers take a sample of a lane to last until the next one begins, whatever its "weight" is.  What
 * was measured in time ends when the sample was taken, so a sample begins earlier, by its weight,
 * and one without a stack follows where its time is over:
 *
 *	weight 3, taken at 5; weight 2, taken at 9		..aaa..bb.
 *
 * One that would begin before the end of the one before it, since it was taken late, begins there.
 *
 * Lanes are told apart by the numbers of their process and thread alone, and their samples must be
 * in order.  Events are lanes of their own, as are threads of one number at the same time, which
 * have been renamed back and forth.  They have numbers that no thread has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/json_output.h"
#include "export/profile_format.h"

/* Numbers of threads are below. */
#define TID_LIMIT (INT64_C(1) << 22)
#define SOURCES_SIZE 256
/* The format repeats names; longer ones are cut, and end in the function's number. */
#define NAME_MAX_SIZE 4096
#define ID_SIZE 32

/**
 * struct chrome_trace - a profile that is being written
 * @order: threads, those of the same number one after the other, and by time
 * @lanes: for each thread, how many lanes of that number precede its own
 * @sampled: for each thread and event
 * @ends: for each event, when the newest sample of the lane is over
 */
struct chrome_trace {
	struct json_output json;
	const struct profile *profile;
	const struct profile_thread **order;
	uint32_t *lanes;
	bool *sampled;
	uint64_t *ends;
};

static int by_number_and_time(const void *a, const void *b)
{
	const struct profile_thread *x = *(const struct profile_thread *const *)a;
	const struct profile_thread *y = *(const struct profile_thread *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static bool is_same_number(const struct profile_thread *a, const struct profile_thread *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

static uint32_t number_of(const struct chrome_trace *w, const struct profile_thread *thread)
{
	return (uint32_t)(thread - w->profile->threads);
}

/* A thread follows the one before it in its lane, if that has ended. */
static void choose_lanes(struct chrome_trace *w)
{
	const struct profile *p = w->profile;
	uint64_t last = 0;
	uint32_t lane = 0;

	for (size_t i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = w->order[i];

		if (!i || !is_same_number(w->order[i - 1], t))
			lane = 0;
		else if (t->first < last)
			lane++;
		last = t->last;
		w->lanes[number_of(w, t)] = lane;
	}
}

static int prepare(struct chrome_trace *w)
{
	const struct profile *p = w->profile;

	w->order = calloc(p->thread_count + 1, sizeof(struct profile_thread *));
	w->lanes = calloc(p->thread_count + 1, sizeof(*w->lanes));
	w->sampled = calloc(p->thread_count * p->event_count + 1, sizeof(*w->sampled));
	w->ends = calloc(p->event_count + 1, sizeof(*w->ends));
	if (!w->order || !w->lanes || !w->sampled || !w->ends)
		return -ENOMEM;
	for (size_t i = 0; i < p->thread_count; i++)
		w->order[i] = &p->threads[i];
	qsort(w->order, p->thread_count, sizeof(struct profile_thread *), by_number_and_time);
	choose_lanes(w);
	for (size_t i = 0; i < p->total_count; i++)
		w->sampled[p->totals[i].thread * p->event_count + p->totals[i].event] = true;
	return 0;
}

/* The number of a lane: the thread's own for the main event. */
static int64_t lane_number(const struct chrome_trace *w, const struct profile_thread *thread,
			   uint32_t event)
{
	const size_t events = w->profile->event_count;
	const size_t rank = (event + events - profile_main_event(w->profile)) % events;

	return thread->tid + TID_LIMIT * (int64_t)(w->lanes[number_of(w, thread)] * events + rank);
}

static void write_label(struct chrome_trace *w, const char *what, int64_t pid, int64_t tid,
			const char *name)
{
	json_object(&w->json, NULL);
	json_string(&w->json, "ph", "M");
	json_string(&w->json, "name", what);
	json_number(&w->json, "pid", pid);
	json_number(&w->json, "tid", tid);
	json_object(&w->json, "args");
	json_shown(&w->json, "name", name);
	json_object_end(&w->json);
	json_object_end(&w->json);
}

static int write_lane_label(struct chrome_trace *w, const struct profile_thread *t, uint32_t event)
{
	const struct profile *p = w->profile;
	const bool is_main = event == profile_main_event(p);
	char *name;

	if (!w->sampled[number_of(w, t) * p->event_count + event])
		return 0;
	if (asprintf(&name, "%s%s%s", t->comm, is_main ? "" : " ",
		     is_main ? "" : p->events[event].name) < 0)
		return -ENOMEM;
	write_label(w, "thread_name", t->pid, lane_number(w, t, event), name);
	free(name);
	return 0;
}

/* One at least: readers know the format by it. */
static int write_labels(struct chrome_trace *w)
{
	const struct profile *p = w->profile;
	int r = 0;

	json_array(&w->json, "traceEvents");
	if (!p->thread_count)
		write_label(w, "process_name", 0, 0, "no samples");
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = w->order[i];

		if (t->pid == t->tid)
			write_label(w, "process_name", t->pid, t->tid, t->comm);
		for (uint32_t k = 0; k < p->event_count && !r; k++)
			r = write_lane_label(w, t, k);
	}
	json_array_end(&w->json);
	return r;
}

static void write_name(struct chrome_trace *w, const char *name, uint32_t function)
{
	char room[NAME_MAX_SIZE + ID_SIZE];
	size_t length = NAME_MAX_SIZE;

	if (strnlen(name, NAME_MAX_SIZE + 1) > NAME_MAX_SIZE) {
		/* between two characters */
		while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
			length--;
		snprintf(room, sizeof(room), "%.*s… #%u", (int)length, name, function);
		name = room;
	}
	json_shown(&w->json, "name", name);
}

/* "7" is the outermost function of stack 7, "7.1" is inlined into it. */
static const char *frame_id(uint32_t stack, uint32_t inlined, char id[ID_SIZE])
{
	snprintf(id, ID_SIZE, inlined ? "%u.%u" : "%u", stack, inlined);
	return id;
}

static uint32_t last_line(const struct profile *p, uint32_t stack)
{
	return p->locations[p->stacks[stack].location].line_count - 1;
}

static void write_frame(struct chrome_trace *w, uint32_t stack, uint32_t inlined)
{
	const struct profile *p = w->profile;
	const uint32_t caller = p->stacks[stack].caller;
	const struct profile_location *l = &p->locations[p->stacks[stack].location];
	const struct profile_line *line = &p->lines[l->lines + l->line_count - 1 - inlined];
	const struct profile_function *f = &p->functions[line->function];
	char id[ID_SIZE];

	json_object(&w->json, frame_id(stack, inlined, id));
	write_name(w, f->name, line->function);
	json_shown(&w->json, "category", f->dso);
	if (line->line) {
		json_shown(&w->json, "file", f->src_file);
		json_unsigned(&w->json, "line", line->line);
	}
	if (inlined)
		json_string(&w->json, "parent", frame_id(stack, inlined - 1, id));
	else if (caller != PROFILE_ROOT)
		json_string(&w->json, "parent", frame_id(caller, last_line(p, caller), id));
	json_object_end(&w->json);
}

static void write_frames(struct chrome_trace *w)
{
	const struct profile *p = w->profile;

	json_object(&w->json, "stackFrames");
	for (uint32_t i = PROFILE_ROOT + 1; i < p->stack_count; i++)
		for (uint32_t k = 0; k <= last_line(p, i); k++)
			write_frame(w, i, k);
	json_object_end(&w->json);
}

/* What all samples have; the caller ends the object. */
static void begin_sample(struct chrome_trace *w, const struct profile_sample *sample, uint64_t time)
{
	const struct profile_thread *t = &w->profile->threads[sample->thread];

	json_object(&w->json, NULL);
	json_number(&w->json, "pid", t->pid);
	json_number(&w->json, "tid", lane_number(w, t, sample->event));
	json_decimal(&w->json, "ts", time, NS_AS_US);
}

static void write_gap(struct chrome_trace *w, const struct profile_sample *sample, uint64_t time)
{
	begin_sample(w, sample, time);
	json_string(&w->json, "name", "");
	json_unsigned(&w->json, "weight", 0);
	json_object_end(&w->json);
}

static void write_args(struct chrome_trace *w, const struct profile_sample *sample)
{
	const char *reason = profile_reason(sample->traced, sample->reason);
	char sources[SOURCES_SIZE];

	json_object(&w->json, "args");
	if (reason)
		json_string(&w->json, "stack_end", reason);
	if (sample->sources)
		json_string(&w->json, "unwound_by",
			    profile_sources(sample->sources, sources, sizeof(sources)));
	json_object_end(&w->json);
}

static void write_sample(struct chrome_trace *w, const struct profile_sample *sample, uint64_t time)
{
	const struct profile *p = w->profile;
	char id[ID_SIZE];

	begin_sample(w, sample, time);
	json_unsigned(&w->json, "cpu", sample->cpu);
	json_shown(&w->json, "name", p->events[sample->event].name);
	if (sample->stack != PROFILE_ROOT)
		json_string(&w->json, "sf",
			    frame_id(sample->stack, last_line(p, sample->stack), id));
	json_unsigned(&w->json, "weight", sample->weight);
	write_args(w, sample);
	json_object_end(&w->json);
}

/* Counts have no length: their samples last until the next one. */
static void place_sample(struct chrome_trace *w, const struct profile_sample *sample)
{
	const bool is_time = !strcmp(w->profile->events[sample->event].unit, "nanoseconds");
	const uint64_t weight = is_time ? sample->weight : 0;
	uint64_t *end = &w->ends[sample->event];
	uint64_t start = sample->time > weight ? sample->time - weight : 0;

	if (start < *end)
		start = *end;
	else if (is_time && *end && start > *end)
		write_gap(w, sample, *end);
	write_sample(w, sample, start);
	*end = start + weight;
}

static void end_lane(struct chrome_trace *w, uint32_t thread)
{
	for (uint32_t i = 0; i < w->profile->event_count; i++)
		if (w->ends[i])
			write_gap(w, &(struct profile_sample){.thread = thread, .event = i},
				  w->ends[i]);
	memset(w->ends, 0, w->profile->event_count * sizeof(*w->ends));
}

static bool ends_lane(const struct chrome_trace *w, size_t i)
{
	const struct profile_thread *const *t = &w->order[i];

	return i + 1 == w->profile->thread_count || !is_same_number(t[0], t[1]) ||
	       w->lanes[number_of(w, t[0])] != w->lanes[number_of(w, t[1])];
}

static int write_samples(struct chrome_trace *w)
{
	int r = 0;

	json_array(&w->json, "samples");
	for (size_t i = 0; i < w->profile->thread_count && !r; i++) {
		const uint32_t thread = number_of(w, w->order[i]);
		struct profile_samples samples = {.profile = w->profile, .thread = thread};
		const struct profile_sample *sample;

		while ((r = profile_samples_next(&samples, &sample)) > 0)
			place_sample(w, sample);
		if (!r && ends_lane(w, i))
			end_lane(w, thread);
	}
	json_array_end(&w->json);
	return r;
}

static int write_all(struct chrome_trace *w)
{
	int r = prepare(w);

	if (r)
		return r;
	json_object(&w->json, NULL);
	r = write_labels(w);
	write_frames(w);
	if (!r)
		r = write_samples(w);
	json_object_end(&w->json);
	return r;
}

int chrome_trace_write(const struct profile *profile, FILE *out)
{
	struct chrome_trace w = {.json = json_output(out), .profile = profile};
	int r = write_all(&w);

	free(w.order);
	free(w.lanes);
	free(w.sampled);
	free(w.ends);
	return r;
}
