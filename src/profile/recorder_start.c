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
#include "profile/probe_event.h"
#include "profile/recorder_state.h"
#include "profile/snapshot.h"
#include "target/thread.h"

/* Append the threads of @pid, or only @tid if it is not 0.  0 or a negative errno. */
static int add_threads(pid_t pid, pid_t tid, pid_t **tids, size_t *count, size_t *capacity)
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

int recorder_list_threads(const struct recorder *r, pid_t **ret, size_t *count)
{
	size_t capacity = 0;
	int error = 0;

	*ret = NULL;
	*count = 0;
	for (size_t i = 0; i < r->options.target_count && !error; i++)
		error = add_threads(r->options.targets[i].pid, r->options.targets[i].tid, ret,
				    count, &capacity);
	return error;
}

/* The events of threads are opened anew for so long: threads may be started all the time. */
#define OPENING_NS NS_PER_SECOND
/* How long records are read at short intervals. */
#define EARLY_NS (200 * UINT64_C(1000000))
/* Until a command is started, at most: processes may come faster than they are followed. */
#define FIRST_SWEEPS 100

/* Of threads, where the kernel lets them be that. */
void recorder_take_events(struct recorder *r)
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
	recorder_take_events(r);
	if (recorder_wants_hits(r) && !r->options.cgroup_count)
		recorder_choose_hits(r);
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

void recorder_close_events(struct recorder *r)
{
	sampler_events_close(&r->waits.wakeups);
	sampler_events_close(&r->waits.switches);
	return_probes_close(&r->returns);
	sampler_close(r->sampler);
	r->sampler = NULL;
}

static int by_number(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Threads that have been started since @known were listed, which are sorted. */
static size_t count_new_threads(const struct recorder *r, const pid_t *known, size_t known_count)
{
	pid_t *tids = NULL;
	size_t count, found = 0;

	if (r->options.targets[0].tid || r->options.enable_on_exec)
		return 0;
	if (!recorder_list_threads(r, &tids, &count))
		for (size_t i = 0; i < count; i++)
			found += !bsearch(&tids[i], known, known_count, sizeof(*known), by_number);
	free(tids);
	return found;
}

/*
 * A thread that is started while events are opened inherits those that are there, and would be
 * sampled on some CPUs only.  Then all are opened anew, for so long: it may happen again each time.
 */
static int open_of_targets(struct recorder *r, struct sampler_options *options,
			   enum recorder_stage *stage)
{
	const uint64_t until = clock_now() + OPENING_NS;
	int error;

	do {
		pid_t *tids;

		recorder_close_events(r);
		error = recorder_list_threads(r, &tids, &options->tid_count);
		if (tids)
			qsort(tids, options->tid_count, sizeof(*tids), by_number);
		options->tids = tids;
		if (!error)
			error = open_with(r, options, stage);
		r->stats.partly = error ? 0 : count_new_threads(r, tids, options->tid_count);
		free(tids);
	} while (r->stats.partly && clock_now() < until);
	return error;
}

static int open_sampler(struct recorder *r, enum recorder_stage *stage)
{
	struct sampler_options options = {
		.area = r->options.area,
		.events = r->events,
		.event_count = r->options.event_count,
		.frequency = r->options.frequency,
		.stack_bytes = r->options.stack_bytes,
		.ring_bytes = r->options.ring_bytes,
		.regs_mask = sample_regs_mask(native_arch()),
		.enable_on_exec = r->options.enable_on_exec,
		.cpus = r->options.cpus,
		.cgroups = r->options.cgroups,
		.cgroup_count = r->options.cgroup_count,
		.defer = r->options.walk == RECORDER_DEFERS,
		.raw = r->options.also_copy && recorder_has_hits(r),
	};
	const pid_t everyone = -1;

	if (r->options.all) {
		options.tids = &everyone;
		options.tid_count = 1;
		options.no_inherit = true;
		options.wait = recorder_wants_walk(r);
		return open_with(r, &options, stage);
	}
	if (r->options.area)
		return open_with(r, &options, stage);
	options.no_inherit = r->options.targets[0].tid;
	return open_of_targets(r, &options, stage);
}

/*
 * perf asks for descriptions of tracepoints beside their samples.  Of probes the kernel was given
 * an address in our memory.
 */
static struct perf_event_attr written_attr(const struct sampler_source *source)
{
	struct perf_event_attr written = source->attr;

	if (source->event->by_program)
		written.config = source->event->config;
	else if (written.type != PERF_TYPE_TRACEPOINT && written.type < PERF_TYPE_MAX)
		return written;
	written.type = PERF_TYPE_RAW;
	written.config1 = written.config2 = 0;
	return written;
}

/* What the recording says of the sampler's events; borrowed from it. */
static void describe_events(struct recorder *r)
{
	for (size_t i = 0; i < r->options.event_count; i++) {
		const struct sampler_source *source = sampler_source(r->sampler, i);

		r->described[i] = (struct sample_event){
			.attr = written_attr(source),
			.name = source->name,
			.ids = source->ids,
			.nr_ids = source->count,
		};
	}
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

	r->described = calloc(count + RECORDER_WAIT_EVENTS + RECORDER_BLOCK_EVENTS,
			      sizeof(*r->described));
	if (!r->described)
		return -ENOMEM;
	describe_events(r);
	r->id = r->described[0].ids[0];
	if (r->options.off_cpu)
		count += recorder_describe_waits(r, &r->described[0].attr, r->described + count);
	if (r->options.heap)
		count += recorder_describe_blocks(r, &r->described[0].attr, r->described + count);
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

/* It, or what it starts, may have ended when the first samples are read. */
static int describe_cgroup(struct recorder *r, pid_t pid)
{
	const struct thread *thread = process_table_find(r->processes, pid);

	return thread ? recorder_ask_cgroup(r, thread->process) : 0;
}

int recorder_describe(struct recorder *r, pid_t pid, struct snapshot_files *files)
{
	const struct remote_process process = {unwinder_reader(r->unwinder), pid};
	bool page;
	int error = snapshot_process(&process, r->id, files, recorder_on_description, r, &page);

	if (!error)
		error = describe_cgroup(r, pid);
	return error ? error : recorder_ask_code(r, pid, page);
}

/* Those that end meanwhile, or hide what they are, are left out. */
static int describe_all(struct recorder *r)
{
	struct snapshot_files *files = calloc(1, sizeof(*files));
	pid_t *pids = NULL;
	int count = process_list(&pids), error = count < 0 ? count : 0;

	/* the walk's first lists see to it */
	r->preloads = !recorder_wants_walk(r);
	for (int i = 0; i < count && error != -ENOMEM; i++)
		error = recorder_describe(r, pids[i], files);
	r->preloads = true;
	if (!r->options.ring_bytes)
		r->options.ring_bytes = SAMPLER_RING_BYTES;
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

/* Events of threads count from when they are opened on: with the walk, if there is one. */
static int open_of_threads(struct recorder *r, enum recorder_stage *stage)
{
	int error;

	*stage = RECORDER_KERNEL_WALK;
	error = recorder_take_walk(r);
	if (error)
		return error;
	*stage = RECORDER_SAMPLER;
	error = open_sampler(r, stage);
	if (error)
		return error;
	*stage = RECORDER_KERNEL_WALK;
	error = recorder_attach_walk(r);
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
	error = recorder_has_hits(r) ? recorder_take_walk(r) : 0;
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
	refused = recorder_take_walk(r);
	if (refused || !error)
		*stage = RECORDER_KERNEL_WALK;
	if (refused || error)
		return refused ? refused : error;
	return recorder_attach_walk(r);
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
	return 2ull * r->options.frequency * r->options.stack_bytes <= r->options.ring_bytes;
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
	recorder_await_walk(r);
	r->early = clock_now() + EARLY_NS;
	r->hurries = true;
	if (r->walk)
		bpf_walk_want_hits(r->walk, true);
	if (!r->options.all)
		return;
	sampler_enable(r->sampler, true);
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
		if (r->options.code_share > 0)
			unwinder_share_code(r->unwinder, r->options.code_share);
		/* before the program for the kernel is loaded, which takes memory for a while */
		process_reader_start(unwinder_reader(r->unwinder));
		process_reader_hurry(unwinder_reader(r->unwinder), r->options.hurry);
		error = process_table_open(r->unwinder, native_arch(), true, &r->processes);
	}
	if (!error)
		error = choose_events(r);
	if (!error && r->options.heap)
		error = live_blocks_open(&r->blocks);
	if (error)
		return error;
	*stage = RECORDER_KERNEL_WALK;
	error = recorder_load_walk(r);
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
	static const struct sampler_event usual,
		own = {.name = "task-clock",
		       .type = PERF_TYPE_SOFTWARE,
		       .config = PERF_COUNT_SW_TASK_CLOCK},
		heap = {.name = RECORDER_HEAP_EVENT,
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.period = 1};
	struct recorder *r = calloc(1, sizeof(*r));
	int error;

	*stage = RECORDER_MEMORY;
	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->preloads = true;
	r->cgroups.seed = hash_seed();
	if (!options->event_count) {
		r->options.events = options->heap ? &heap : options->area ? &own : &usual;
		r->options.event_count = 1;
	}
	error = open_all(r, stage);
	if (error)
		recorder_abort(r);
	else
		*ret = r;
	return error;
}
