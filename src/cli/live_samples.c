/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/top.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/native_arch.h"
#include "cli/named_stack.h"
#include "export/live_counts.h"
#include "profile/process_table.h"
#include "profile/recorder.h"
#include "profile/sample_queue.h"
#include "unwind/module.h"

/* Names begin anew when they take more than that: files come and go for days. */
#define NAMES_MAX ((size_t)32 << 20)
/* Of which the tables of files take that at most, the least recently used go. */
#define FILES_MAX ((size_t)16 << 20)
/* What is told apart of the processes of an interval. */
#define PROCESSES_MAX 65536
#define PID_SIZE 16

/* Processes that had samples. */
struct seen {
	struct hash_index index;
	int *pids;
	size_t count, capacity;
};

struct live_samples {
	pthread_t thread;
	bool joined;
	struct sample_queue *queue;
	struct bobbin_unwinder *unwinder;
	struct process_table *processes;
	struct symbolizer_options naming_options;
	struct naming *naming;
	struct named_stack stack;
	struct naming_loss loss; /* of those that were closed */
	const char *event;       /* of samples that count; NULL: all of them */
	atomic_bool paused, closing;
	pthread_mutex_t lock; /* of all below */
	struct report *counts;
	struct seen seen;
	struct live_samples_stats stats;
	uint64_t latest; /* time of a sample */
};

static int note_process(struct seen *seen, int pid)
{
	uint64_t hash = hash_words((uint64_t)pid, 0, 0);
	size_t at = 0;
	uint32_t i;

	if (seen->count == PROCESSES_MAX)
		return 0;
	while (hash_index_next(&seen->index, hash, &at, &i))
		if (seen->pids[i] == pid)
			return 0;
	return hash_index_push(&seen->index, hash, seen->pids, seen->count, seen->capacity, pid);
}

static void forget_processes(struct seen *seen)
{
	hash_index_fini(&seen->index);
	free(seen->pids);
	*seen = (struct seen){0};
}

static int open_names(struct live_samples *s)
{
	return naming_open(&s->naming_options, NULL, s->unwinder, NULL, &s->naming);
}

static void close_names(struct live_samples *s)
{
	struct naming_loss loss = {0};

	if (s->naming)
		loss = naming_loss(s->naming);
	s->loss.frames += loss.frames;
	if (loss.error)
		s->loss.error = loss.error;
	naming_close(s->naming);
	s->naming = NULL;
}

static int bound_names(void *ctx)
{
	struct live_samples *s = ctx;

	if (naming_memory(s->naming) <= NAMES_MAX)
		return 0;
	close_names(s);
	return open_names(s);
}

static void count_stack(struct live_samples_stats *stats, const struct stack_sample *sample)
{
	bool user = sample->traced && sample->reason != BOBBIN_REASON_NO_USER;

	stats->samples++;
	if (!stats->first || sample->time < stats->first)
		stats->first = sample->time;
	if (sample->time > stats->last)
		stats->last = sample->time;
	stats->user += user;
	stats->complete += user && sample->reason == BOBBIN_REASON_OUTERMOST;
	if (!*stats->event)
		snprintf(stats->event, sizeof(stats->event), "%s", sample->event);
}

/* @s->stack is the sample's. */
static int count(struct live_samples *s, const struct stack_sample *sample)
{
	char process[PID_SIZE];
	int r;

	snprintf(process, sizeof(process), "%d", sample->pid);
	pthread_mutex_lock(&s->lock);
	r = live_counts_add(s->counts, process, sample->comm, s->stack.frames, s->stack.count,
			    sample->period);
	if (!r)
		r = note_process(&s->seen, sample->pid);
	count_stack(&s->stats, sample);
	if (sample->time > s->latest)
		s->latest = sample->time;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static int take_sample(void *ctx, const struct stack_sample *taken)
{
	struct live_samples *s = ctx;
	struct stack_sample sample = *taken;
	const struct bobbin_frame place = stack_sample_place(taken);
	struct thread *thread;
	int r;

	if (s->paused || s->closing || (s->event && strcmp(s->event, sample.event) != 0))
		return 0;
	r = process_table_thread(s->processes, sample.pid, sample.tid, &thread);
	if (r)
		return r;
	sample.comm = thread->comm;
	sample.process = thread->process;
	if (!sample.count) {
		sample.frames = &place;
		sample.count = 1;
	}
	r = named_stack_make(&s->stack, s->naming, &sample);
	return r ? r : count(s, &sample);
}

static int take_record(void *ctx, const struct perf_event *event)
{
	struct live_samples *s = ctx;

	return process_table_event(s->processes, event);
}

static const struct sample_sink counting_sink = {
	.sample = take_sample,
	.record = take_record,
	.round = bound_names,
};

static void *run(void *ctx)
{
	struct live_samples *s = ctx;
	int error;

	/* there is little to inherit yet */
	process_reader_start(unwinder_reader(s->unwinder));
	naming_start(s->naming);
	error = sample_queue_run(s->queue, &counting_sink, s);
	pthread_mutex_lock(&s->lock);
	s->stats.ended = true;
	s->stats.error = error;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static struct naming_loss free_samples(struct live_samples *s)
{
	struct naming_loss loss;

	close_names(s);
	loss = s->loss;
	named_stack_fini(&s->stack);
	process_table_close(s->processes);
	bobbin_unwinder_close(s->unwinder);
	sample_queue_close(s->queue);
	report_close(s->counts);
	forget_processes(&s->seen);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return loss;
}

static int open_all(struct live_samples *s, const struct arguments *a)
{
	int r = report_open(&s->counts);

	s->naming_options = a->naming;
	s->naming_options.debug_path = a->unwind.debug_path;
	s->naming_options.memory_limit = FILES_MAX;
	s->event = a->off_cpu ? RECORDER_WAIT_EVENT : NULL;
	if (!r)
		r = sample_queue_open(&s->queue);
	if (!r)
		r = unwinder_open(&a->unwind, a->infer, &s->unwinder);
	if (!r)
		r = process_table_open(s->unwinder, native_arch(), true, &s->processes);
	if (!r)
		r = open_names(s);
	return r ? r : top_signals_thread(&s->thread, run, s);
}

int live_samples_open(const struct arguments *arguments, struct live_samples **ret)
{
	struct live_samples *s = calloc(1, sizeof(*s));
	int r = s ? 0 : -ENOMEM;

	if (!r) {
		pthread_mutex_init(&s->lock, NULL);
		r = open_all(s, arguments);
	}
	if (!r)
		*ret = s;
	else if (s)
		free_samples(s);
	return r;
}

struct sample_queue *live_samples_queue(struct live_samples *samples)
{
	return samples->queue;
}

void live_samples_pause(struct live_samples *samples, bool paused)
{
	samples->paused = paused;
}

int live_samples_page(struct live_samples *samples, const struct top_view *view,
		      struct top_page *ret)
{
	int r;

	pthread_mutex_lock(&samples->lock);
	r = top_page_init(samples->counts, view, ret);
	pthread_mutex_unlock(&samples->lock);
	return r;
}

int live_samples_next(struct live_samples *samples, const struct top_view *view, bool forget,
		      struct top_page *page, struct live_samples_stats *ret)
{
	int r = 0;

	pthread_mutex_lock(&samples->lock);
	if (page)
		r = top_page_init(samples->counts, view, page);
	if (!r) {
		r = live_counts_fade(samples->counts, forget);
		if (r && page)
			top_page_fini(page);
	}
	samples->stats.processes = samples->seen.count;
	samples->stats.read_until = sample_queue_fills_up(samples->queue) ? samples->latest : 0;
	*ret = samples->stats;
	forget_processes(&samples->seen);
	samples->stats.samples = samples->stats.user = samples->stats.complete = 0;
	samples->stats.first = samples->stats.last = 0;
	pthread_mutex_unlock(&samples->lock);
	return r;
}

void live_samples_discard(struct live_samples *samples)
{
	samples->closing = true;
}

void live_samples_drain(struct live_samples *samples)
{
	sample_queue_end(samples->queue);
	if (!samples->joined)
		pthread_join(samples->thread, NULL);
	samples->joined = true;
}

struct naming_loss live_samples_close(struct live_samples *samples)
{
	if (!samples)
		return (struct naming_loss){0};
	live_samples_drain(samples);
	return free_samples(samples);
}
