/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a recorder begins: events, the sink, and what runs already.
 */
#include "profile/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/vector.h"
#include "profile/bpf_events.h"
#include "profile/probe_event.h"
#include "profile/recorder_state.h"
#include "profile/sample_trace.h"
#include "profile/snapshot.h"
#include "target/thread.h"

/* Append the threads of @pid, or only @tid if it is not 0.  0 or a negative errno. */
static int target_threads(pid_t pid, pid_t tid, pid_t **tids, size_t *count, size_t *capacity)
{
	pid_t *own = NULL;
	int n = tid ? 1 : thread_list(pid, &own), r;

	if (n < 0)
		return n;
	r = vector_reserve(tids, capacity, *count + (size_t)n, sizeof(**tids));
	if (!r) {
		memcpy(*tids + *count, tid ? &tid : own, (size_t)n * sizeof(*own));
		*count += (size_t)n;
	}
	free(own);
	return r;
}

/* Until a command is started, at most: processes may come faster than they are followed. */
#define FIRST_SWEEPS 100

static bool wants_walk(const struct recorder *r)
{
	return r->options.walk > RECORDER_DEFERS;
}

/* Whether events are sampled by programs, which must be loaded before these are opened. */
static bool has_hits(const struct recorder *r)
{
	return bpf_events_exist(r->events, r->options.event_count);
}

/* Of threads, where the kernel lets them be that. */
static void take_events(struct recorder *r)
{
	for (size_t i = 0; i < r->options.event_count; i++) {
		struct sampler_event *event = &r->events[i];

		*event = r->options.events[i];
		if (!*r->probes[i].name)
			continue;
		event->type = PERF_TYPE_TRACEPOINT;
		event->config = r->probes[i].id;
		event->config1 = event->config2 = 0;
		event->of_all = false;
	}
}

/* Who may not describe them, or where there is no room, has the kernel's events of all processes. */
static void describe_probes(struct recorder *r)
{
	bool returns = return_probes_wanted(r->options.events, r->options.event_count);
	bool cleaned = false;

	for (size_t i = 0; i < r->options.event_count; i++) {
		const struct sampler_event *event = &r->options.events[i];

		if (!event->probe)
			continue;
		if (!cleaned)
			probe_events_clean();
		cleaned = true;
		probe_event_open((const char *)(uintptr_t)event->config1, event->config2,
				 event->config, &r->probes[i]);
		if (event->config && returns)
			probe_event_open((const char *)(uintptr_t)event->config1, event->config2,
					 false, &r->probes[r->options.event_count + i]);
	}
}

/* Those of cgroups are perf's own. */
static int choose_events(struct recorder *r)
{
	size_t count = r->options.event_count;

	r->events = malloc(count * sizeof(*r->events));
	r->probes = calloc(2 * count, sizeof(*r->probes));
	if (!r->events || !r->probes)
		return -ENOMEM;
	describe_probes(r);
	take_events(r);
	if (wants_walk(r) && !r->options.cgroup_count)
		bpf_events_choose(r->events, count, r->options.all);
	return 0;
}

static int open_with(struct recorder *r, const struct sampler_options *options,
		     enum recorder_stage *stage)
{
	int error;

	*stage = RECORDER_SAMPLER;
	error = sampler_open(options, &r->sampler);
	if (!error && return_probes_wanted(r->options.events, r->options.event_count))
		error = return_probes_open(&r->returns, r->sampler, options, r->options.events,
					   r->options.event_count,
					   r->probes + r->options.event_count);
	if (error || !r->options.off_cpu)
		return error;
	*stage = RECORDER_SWITCHES;
	error = recorder_open_waits(r, options);
	if (error || !r->options.wakers)
		return error;
	*stage = RECORDER_WAKEUPS;
	return recorder_open_wakeups(r);
}

static int open_sampler(struct recorder *r, enum recorder_stage *stage)
{
	struct sampler_options options = {
		.events = r->events,
		.event_count = r->options.event_count,
		.frequency = r->options.frequency,
		.stack_bytes = r->options.stack_bytes,
		.regs_mask = sample_regs_mask(native_arch()),
		.enable_on_exec = r->options.enable_on_exec,
		.cpus = r->options.cpus,
		.cgroups = r->options.cgroups,
		.cgroup_count = r->options.cgroup_count,
		.defer = r->options.walk == RECORDER_DEFERS,
		.raw = r->options.also_copy && has_hits(r),
	};
	const pid_t everyone = -1;
	pid_t *tids = NULL;
	size_t capacity = 0;
	int error = 0;

	if (r->options.all) {
		options.tids = &everyone;
		options.tid_count = 1;
		options.no_inherit = true;
		options.wait = wants_walk(r);
		return open_with(r, &options, stage);
	}
	for (size_t i = 0; i < r->options.target_count && !error; i++)
		error = target_threads(r->options.targets[i].pid, r->options.targets[i].tid, &tids,
				       &options.tid_count, &capacity);
	options.tids = tids;
	options.no_inherit = r->options.targets[0].tid;
	if (!error)
		error = open_with(r, &options, stage);
	free(tids);
	return error;
}

/* Which event of several a sample is of. */
static int note_ids(struct recorder *r, size_t count)
{
	int error = 0;

	for (size_t n = 0; count > 1 && n < count; n++)
		for (size_t i = 0; i < r->described[n].nr_ids && !error; i++)
			error = event_ids_add(&r->event_ids, r->described[n].ids[i], (uint32_t)n);
	return error;
}

static int begin_sink(struct recorder *r)
{
	size_t count = r->options.event_count;
	struct sample_source source = {.unwinder = r->unwinder, .processes = r->processes};
	int error;

	r->described = calloc(count + RECORDER_WAIT_EVENTS, sizeof(*r->described));
	if (!r->described)
		return -ENOMEM;
	sampled_events_describe(r->sampler, r->events, count, r->described);
	r->id = r->described[0].ids[0];
	if (r->options.off_cpu)
		count += recorder_describe_waits(r, &r->described[0].attr, r->described + count);
	source.events = r->described;
	source.event_count = count;
	error = note_ids(r, count);
	return error ? error : r->options.sink->begin(r->options.sink_ctx, &source);
}

/* Of now, and at the beginning of time 0. */
int recorder_on_description(void *ctx, const struct perf_event *event)
{
	struct recorder *r = ctx;
	struct perf_event now = *event;

	now.time = r->time;
	now.id = r->id;
	return recorder_on_record(r, &now);
}

int recorder_describe(struct recorder *r, pid_t pid, struct snapshot_files *files)
{
	const struct remote_process process = {unwinder_reader(r->unwinder), pid};
	bool page;
	int error = snapshot_process(&process, r->id, files, recorder_on_description, r, &page);

	return error ? error : recorder_ask_code(r, pid, page);
}

/* Those that end meanwhile, or hide what they are, are left out. */
static int describe_all(struct recorder *r)
{
	struct snapshot_files *files = calloc(1, sizeof(*files));
	pid_t *pids = NULL;
	int count = process_list(&pids), error = count < 0 ? count : 0;

	/* the walk's first lists see to it */
	r->preloads = !wants_walk(r);
	for (int i = 0; i < count && error != -ENOMEM; i++)
		error = recorder_describe(r, pids[i], files);
	r->preloads = true;
	free(pids);
	free(files);
	return error == -ENOMEM ? error : 0;
}

static int describe_past(struct recorder *r, enum recorder_stage *stage)
{
	const struct recorder_target *targets = r->options.targets;
	int error;

	*stage = RECORDER_OUTPUT;
	error = snapshot_kernel(r->id, recorder_on_record, r);
	if (error || r->options.enable_on_exec)
		return error;
	*stage = RECORDER_PROCESS;
	if (r->options.all)
		return describe_all(r);
	for (size_t i = 0; i < r->options.target_count && !error; i++)
		if (!i || targets[i].pid != targets[i - 1].pid)
			error = recorder_describe(r, targets[i].pid, NULL);
	return error;
}

static void forget(void *ctx, struct process *process)
{
	const struct recorder *r = ctx;

	bpf_walk_forget(r->walk, &process->walk);
}

/* Without the walk, if that can be done without. */
static int do_without(struct recorder *r, int error)
{
	r->stats.walk_error = error;
	bpf_walk_close(r->walk);
	r->walk = NULL;
	take_events(r);
	return r->options.walk == RECORDER_TRIES_KERNEL ? 0 : error;
}

static int load_walk(struct recorder *r)
{
	const struct recorder_options *o = &r->options;
	struct bpf_walk_options options = {
		.also_copy = o->also_copy,
		.by_user = o->by_user,
		.user = o->user,
		.all = o->all,
		.cpus = o->cpus && o->cpus->some ? o->cpus->bits : NULL,
	};
	int error;

	if (!wants_walk(r))
		return 0;
	bpf_events_list(r->events, o->event_count, &options);
	error = bpf_walk_start(r->unwinder, &options, &r->loading);
	return error ? do_without(r, error) : 0;
}

static int take_walk(struct recorder *r)
{
	int error;

	if (!r->loading)
		return 0;
	r->walk = r->loading;
	r->loading = NULL;
	error = bpf_walk_wait(r->walk);
	return error ? do_without(r, error) : 0;
}

/* What is attached cannot be detached, so only the first event may do without. */
static int attach_counter(struct recorder *r, size_t number)
{
	const int *events;
	size_t count = sampler_events(r->sampler, number, &events);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		error = bpf_walk_attach(r->walk, events[i]);
		if (error && !i && !has_hits(r))
			return do_without(r, error);
	}
	return error;
}

/* Once more for threads that were started meanwhile, by others that were not known yet. */
static int sample_targets(struct recorder *r)
{
	uint64_t how = r->options.enable_on_exec ? 0 : KERNEL_SAMPLED;
	size_t count = 0, capacity = 0;
	pid_t *tids = NULL;
	int error = 0;

	if (!r->options.targets[0].tid)
		how |= KERNEL_INHERITED;
	for (size_t i = 0; i < 2 * r->options.target_count && !error; i++) {
		const struct recorder_target *t = &r->options.targets[i % r->options.target_count];

		error = target_threads(t->pid, t->tid, &tids, &count, &capacity);
	}
	for (size_t i = 0; i < count && !error; i++)
		error = bpf_walk_sample(r->walk, tids[i], how);
	free(tids);
	return error;
}

static int attach_hits(struct recorder *r)
{
	int error = bpf_events_attach(r->events, r->options.event_count, r->sampler, r->walk);

	return error || r->options.all ? error : sample_targets(r);
}

/* From here on samples are walked in the kernel, as far as it goes. */
static int attach_walk(struct recorder *r)
{
	size_t counter = bpf_events_first_other(r->events, r->options.event_count);
	int error = 0;

	if (r->walk && counter < r->options.event_count)
		error = attach_counter(r, counter);
	if (!r->walk)
		return error;
	if (!error && has_hits(r))
		error = attach_hits(r);
	if (!error && r->options.also_copy)
		error = walk_comparison_open(&r->comparison);
	if (!error)
		process_table_watch(r->processes, forget, r);
	return error;
}

/* Events of threads count from when they are opened on: with the walk, if there is one. */
static int open_of_threads(struct recorder *r, enum recorder_stage *stage)
{
	int error;

	*stage = RECORDER_KERNEL_WALK;
	error = take_walk(r);
	if (error)
		return error;
	*stage = RECORDER_SAMPLER;
	error = open_sampler(r, stage);
	if (error)
		return error;
	*stage = RECORDER_KERNEL_WALK;
	error = attach_walk(r);
	if (error)
		return error;
	*stage = RECORDER_OUTPUT;
	error = begin_sink(r);
	return error ? error : describe_past(r, stage);
}

/* Those of all wait until they are enabled: what runs is described while the walk is loaded. */
static int open_of_all(struct recorder *r, enum recorder_stage *stage)
{
	int error, refused;

	*stage = RECORDER_KERNEL_WALK;
	error = has_hits(r) ? take_walk(r) : 0;
	if (error)
		return error;
	*stage = RECORDER_SAMPLER;
	error = open_sampler(r, stage);
	if (!error) {
		*stage = RECORDER_OUTPUT;
		error = begin_sink(r);
	}
	if (!error)
		error = describe_past(r, stage);
	/* what is missing for the walk is said first */
	refused = take_walk(r);
	if (refused || !error)
		*stage = RECORDER_KERNEL_WALK;
	if (refused || error)
		return refused ? refused : error;
	return attach_walk(r);
}

/* Lists and tables of all that runs. */
static void follow_first(struct recorder *r)
{
	if (!r->walk)
		return;
	/* what is asked for first is had second */
	recorder_follow_all(r, false);
	recorder_follow_all(r, true);
}

/* Until there are tables all stacks are copied: whether the rings have room for some seconds. */
static bool can_copy_first(const struct recorder *r)
{
	return 2ull * r->options.frequency * r->options.stack_bytes <= SAMPLER_RING_BYTES;
}

/* The rings are emptied while lists are made.  An error ends the recording later. */
static void sweep_first(struct recorder *r)
{
	r->behind = r->walk;
	for (unsigned int i = 0; r->behind && i < FIRST_SWEEPS; i++)
		if (recorder_sweep(r))
			return;
}

static void begin(struct recorder *r)
{
	bool early = r->options.all && can_copy_first(r);

	if (!early)
		follow_first(r);
	r->hurries = true;
	if (r->walk)
		bpf_walk_want_hits(r->walk, true);
	if (!r->options.all)
		return;
	sampler_enable(r->sampler);
	recorder_enable_waits(r, true);
	if (early)
		sweep_first(r);
}

static int open_all(struct recorder *r, enum recorder_stage *stage)
{
	uint64_t described;
	int error;

	*stage = RECORDER_MEMORY;
	error = unwinder_open(&r->options.unwind, r->options.infer, &r->unwinder);
	if (!error) {
		/* before the program for the kernel is loaded, which takes memory for a while */
		process_reader_start(unwinder_reader(r->unwinder));
		process_reader_hurry(unwinder_reader(r->unwinder), r->options.hurry);
		error = process_table_open(r->unwinder, native_arch(), true, &r->processes);
	}
	if (!error)
		error = choose_events(r);
	if (error)
		return error;
	*stage = RECORDER_KERNEL_WALK;
	error = load_walk(r);
	if (error)
		return error;
	described = clock_now();
	error = r->options.all ? open_of_all(r, stage) : open_of_threads(r, stage);
	if (error)
		return error;
	if (r->walk)
		bpf_walk_read_until(r->walk, described);
	begin(r);
	return 0;
}

int recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		  struct recorder **ret)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int error;

	*stage = RECORDER_MEMORY;
	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->preloads = true;
	if (!options->event_count) {
		r->options.events = &sampled_event_usual;
		r->options.event_count = 1;
	}
	error = open_all(r, stage);
	if (error)
		recorder_abort(r);
	else
		*ret = r;
	return error;
}
