/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recorder's walks in the kernel: which events a program samples, how it is loaded and attached,
 * what it has walked, and how that compares with user space's walks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory_origin.h"
#include "profile/recorder_state.h"

/* At a time, for lists of mappings that were not known before. */
#define FOLLOW_NS 20000000ull
/* From a walk to the sample of the same stack, which the kernel takes next. */
#define MATCH_NS 10000000ull

/* Of a CPU, until user space has walked the same stack. */
struct kept_walk {
	bool valid;
	uint32_t tid;
	uint64_t time;
	struct bobbin_trace trace;
	struct bobbin_frame frames[TRACE_CHAIN_MAX];
};

_Static_assert(SAMPLER_CPUS == KERNEL_CPUS, "of the choice of CPUs");

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/*
 * Tracepoints with __perf_count() count a hit more than once; those with __perf_task() also count it
 * for another thread.  A program cannot do either.
 */
static bool is_plain(const struct sampler_event *event, bool all)
{
	if (begins_with(event->name, "sched:sched_stat_"))
		return false;
	return all || !begins_with(event->name, "sched:sched_wak");
}

void recorder_choose_hits(struct recorder *r)
{
	for (size_t i = 0; i < r->options.event_count && i < KERNEL_EVENTS; i++) {
		struct sampler_event *event = &r->events[i];
		bool tracepoint = event->type == PERF_TYPE_TRACEPOINT && event->name;

		if (event->period &&
		    (event->probe || (tracepoint && is_plain(event, r->options.all))))
			event->by_program = event->of_all = true;
	}
}

/* Whether events are sampled by programs, which must be loaded before these are opened. */
bool recorder_has_hits(const struct recorder *r)
{
	for (size_t i = 0; i < r->options.event_count; i++)
		if (r->events[i].by_program)
			return true;
	return false;
}

/* The first event that no program samples; their number: there is none. */
static size_t first_counter(const struct recorder *r)
{
	size_t i = 0;

	while (i < r->options.event_count && r->events[i].by_program)
		i++;
	return i;
}

static void list_events(const struct recorder *r, struct bpf_walk_options *ret)
{
	size_t count = r->options.event_count;

	ret->event_count = count < KERNEL_EVENTS ? (uint32_t)count : KERNEL_EVENTS;
	ret->counted = (uint32_t)first_counter(r);
	for (uint32_t i = 0; i < ret->event_count; i++) {
		const struct sampler_event *e = &r->events[i];

		ret->events[i] = (struct walk_event){
			e->type,   e->config,     e->config1, e->config2,
			e->period, e->by_program, e->probe,
		};
	}
}

/* how it begins */

bool recorder_wants_walk(const struct recorder *r)
{
	return r->options.walk > RECORDER_DEFERS;
}

/* A command waits so long for the proof. */
#define PROOF_NS (300 * UINT64_C(1000000))

/* What is tried for threads is not waited for: samples have copies until the program is there. */
static bool is_relayed(const struct recorder *r)
{
	return r->options.walk == RECORDER_TRIES_KERNEL && !r->options.all;
}

bool recorder_wants_hits(const struct recorder *r)
{
	return recorder_wants_walk(r) && !is_relayed(r);
}

/* Without the walk, if that can be done without. */
static int do_without(struct recorder *r, int error)
{
	r->stats.walk_error = error;
	bpf_walk_close(r->walk);
	r->walk = NULL;
	recorder_take_events(r);
	return r->options.walk == RECORDER_TRIES_KERNEL ? 0 : error;
}

int recorder_load_walk(struct recorder *r)
{
	const struct recorder_options *o = &r->options;
	struct bpf_walk_options options = {
		.also_copy = o->also_copy,
		.by_user = o->by_user,
		.user = o->user,
		.relayed = is_relayed(r),
		.all = o->all,
		.cpus = o->cpus && o->cpus->some ? o->cpus->bits : NULL,
	};
	int error;

	if (!recorder_wants_walk(r))
		return 0;
	list_events(r, &options);
	error = bpf_walk_start(r->unwinder, &options, &r->loading);
	return error ? do_without(r, error) : 0;
}

static int take(struct recorder *r)
{
	int error;

	r->walk = r->loading;
	r->loading = NULL;
	error = bpf_walk_wait(r->walk);
	return error ? do_without(r, error) : 0;
}

int recorder_take_walk(struct recorder *r)
{
	return r->loading && !is_relayed(r) ? take(r) : 0;
}

/* What is attached cannot be detached, so only the first event may do without. */
static int attach_counter(struct recorder *r, size_t number)
{
	const struct sampler_source *source = sampler_source(r->sampler, number);
	int error = 0;

	for (size_t i = 0; i < source->count && !error; i++) {
		error = bpf_walk_attach(r->walk, source->fds[i]);
		if (error && !i && !recorder_has_hits(r))
			return do_without(r, error);
	}
	return error;
}

static int sample_threads(struct recorder *r, uint64_t how)
{
	pid_t *tids;
	size_t count;
	int error = recorder_list_threads(r, &tids, &count);

	for (size_t i = 0; i < count && !error; i++)
		error = bpf_walk_sample(r->walk, tids[i], how);
	free(tids);
	return error;
}

/* Once more for threads that were started meanwhile, by others that were not known yet. */
static int sample_targets(struct recorder *r)
{
	uint64_t how = r->options.enable_on_exec ? 0 : KERNEL_SAMPLED;
	int error;

	if (!r->options.targets[0].tid)
		how |= KERNEL_INHERITED;
	error = sample_threads(r, how);
	return error ? error : sample_threads(r, how);
}

/* What the programs cannot walk goes to the sampler's events. */
static int attach_hits(struct recorder *r)
{
	int error = 0;

	for (size_t i = 0; i < r->options.event_count && !error; i++) {
		const struct sampler_source *source = sampler_source(r->sampler, i);

		if (r->events[i].by_program)
			error = bpf_walk_attach_hits(r->walk, (uint32_t)i, source->fds,
						     source->cpus, source->count);
	}
	return error || r->options.all ? error : sample_targets(r);
}

static void forget(void *ctx, struct process *process)
{
	const struct recorder *r = ctx;

	bpf_walk_forget(r->walk, &process->walk);
}

/* With user space's walks of the same stacks. */
static int open_comparison(struct recorder *r)
{
	r->walk_count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	r->walks = calloc(r->walk_count, sizeof(*r->walks));
	return r->walks ? 0 : -ENOMEM;
}

/* Copies are made without it, too. */
static void attach_relay(struct recorder *r)
{
	const struct sampler_source *source = sampler_source(r->sampler, first_counter(r));
	int error = 0;

	for (size_t i = 0; i < source->count && !error; i++)
		error = bpf_walk_attach(r->loading, source->fds[i]);
	if (!error)
		return;
	r->stats.walk_error = error;
	bpf_walk_close(r->loading);
	r->loading = NULL;
}

/* From here on samples are walked in the kernel, as far as it goes, or will be. */
int recorder_attach_walk(struct recorder *r)
{
	size_t counter = first_counter(r);
	int error = 0;

	if (r->loading)
		attach_relay(r);
	if (r->walk && counter < r->options.event_count)
		error = attach_counter(r, counter);
	if (!r->walk)
		return error;
	if (!error && recorder_has_hits(r))
		error = attach_hits(r);
	if (!error && r->options.also_copy)
		error = open_comparison(r);
	if (!error)
		process_table_watch(r->processes, forget, r);
	return error;
}

static void change_over(struct recorder *r, uint64_t until)
{
	if (!r->loading || !bpf_walk_is_loaded(r->loading, until) || take(r) || !r->walk)
		return;
	process_table_watch(r->processes, forget, r);
	bpf_walk_read_until(r->walk, sampler_horizon(r->sampler));
	recorder_follow_all(r, false);
	r->stats.walk_error = bpf_walk_run(r->walk);
}

void recorder_change_over(struct recorder *r)
{
	change_over(r, 0);
}

void recorder_await_walk(struct recorder *r)
{
	if (r->options.enable_on_exec)
		change_over(r, clock_now() + PROOF_NS);
}

/* what has changed */

static void follow(void *ctx, struct process *process)
{
	struct recorder *r = ctx;

	r->behind = r->behind || clock_now() >= r->follow_until;
	if (!r->behind)
		bpf_walk_follow(r->walk, &process->walk);
}

void recorder_follow_all(struct recorder *r, bool wait)
{
	bool all = bpf_walk_take_tables(r->walk, wait) || !r->hurries || r->behind;

	r->behind = false;
	r->follow_until = r->hurries ? clock_now() + FOLLOW_NS : UINT64_MAX;
	if (all)
		process_table_visit(r->processes, follow, r);
	else
		process_table_visit_changed(r->processes, follow, r);
}

/*
 * comparison: the kernel's walk comes first.  User space's, from the copy of the same stack, is the
 * next one of the same CPU, at about the same time.
 */

static bool is_proof(uint8_t source)
{
	return source == BOBBIN_SOURCE_PATH || source == BOBBIN_SOURCE_FRAME_POINTER ||
	       source == BOBBIN_SOURCE_CODE;
}

/* Other code may have been written, moved or freed before user space looks at a sample. */
static bool is_of_file(const struct bobbin_space *space, uint64_t pc)
{
	struct bobbin_place_info place;

	return !bobbin_space_find(space, pc, &place) && !memory_may_be_made(place.mapping.path);
}

/*
 * Of code that has changed in between there may be another proof, of the same caller, and of a file's
 * code before its rules are inferred.
 */
static bool same_frame(const struct bobbin_space *space, const struct bobbin_frame *a,
		       const struct bobbin_frame *b)
{
	if (a->pc != b->pc || a->exact != b->exact)
		return false;
	return a->source == b->source ||
	       (is_proof(a->source) && is_proof(b->source) &&
		(a->source == BOBBIN_SOURCE_CODE || b->source == BOBBIN_SOURCE_CODE ||
		 !is_of_file(space, a->pc)));
}

/*
 * Whether a walk ends where the copy of the stack does, or at what is below it, or has guessed; it
 * may be empty.
 */
static bool is_part(const struct bobbin_trace *trace)
{
	return trace->reason == BOBBIN_REASON_STACK_END ||
	       trace->reason == BOBBIN_REASON_NEW_SPACE ||
	       trace->reason == BOBBIN_REASON_STACK_HOLE ||
	       trace->reason == BOBBIN_REASON_BELOW_SP ||
	       trace->reason == BOBBIN_REASON_OTHER_STACK || trace->reason == BOBBIN_REASON_LIKELY;
}

/* Whether user space finds no call any more before a return address of the kernel's walk. */
static bool has_lost_call(const struct bobbin_space *space, const struct kept_walk *kept,
			  const struct bobbin_trace *trace)
{
	return trace->reason == BOBBIN_REASON_NO_CALL && trace->count < kept->trace.count &&
	       !is_of_file(space, kept->frames[trace->count].pc);
}

static bool is_walked(const struct bobbin_frame *frame)
{
	return frame->source != BOBBIN_SOURCE_KERNEL && frame->source != BOBBIN_SOURCE_GUESS;
}

/*
 * Frames of a trace whose callers user space knows, from the leaf.  It looks at code that was made
 * at run time when the sample is read, and may have to guess what the kernel has seen.
 */
static uint32_t walked_frames(const struct bobbin_trace *trace)
{
	uint32_t count = 0;

	while (count < trace->count && is_walked(&trace->frames[count]))
		count++;
	/* why the last one has no caller may be that the copy ends */
	return count && is_part(trace) ? count - 1 : count;
}

static bool same_walk(const struct bobbin_space *space, const struct kept_walk *kept,
		      const struct bobbin_trace *trace)
{
	/* only the kernel sees that a stack's mapping ends at a zero */
	bool whole = trace->reason == BOBBIN_REASON_OUTERMOST ||
		     trace->reason == BOBBIN_REASON_ZERO_RA;
	uint32_t count = walked_frames(trace);

	if (!whole && !is_part(trace) && !has_lost_call(space, kept, trace))
		return false;
	if (whole && (kept->trace.count != trace->count || kept->trace.left_out != trace->left_out))
		return false;
	/* a copy that ends early has other frames after the gap */
	if (!whole && kept->trace.left_out && count > trace->max - trace->outer)
		count = trace->max - trace->outer;
	if (count > kept->trace.count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!same_frame(space, &kept->frames[i], &trace->frames[i]))
			return false;
	return true;
}

static struct kept_walk *walk_of(const struct recorder *r, const struct perf_event *event)
{
	return event->cpu < r->walk_count ? &r->walks[event->cpu] : NULL;
}

static void keep_walk(struct recorder *r, const struct perf_event *event,
		      const struct bobbin_trace *trace)
{
	struct kept_walk *kept = walk_of(r, event);

	if (!kept)
		return;
	kept->valid = true;
	kept->tid = event->tid;
	kept->time = event->time;
	kept->trace = *trace;
	memcpy(kept->frames, trace->frames, trace->count * sizeof(*trace->frames));
}

void recorder_forget_walks(struct recorder *r)
{
	for (size_t i = 0; i < r->walk_count; i++)
		r->walks[i].valid = false;
}

void recorder_drop_walk(struct recorder *r, const struct perf_event *event)
{
	struct kept_walk *kept = walk_of(r, event);

	if (kept)
		kept->valid = false;
}

/* Whether a walk is of the sample's stack.  Where times are not exact the sample's is later. */
static bool is_of_sample(struct recorder *r, const struct kept_walk *kept, uint32_t tid,
			 uint64_t time)
{
	if (!kept->valid || kept->tid != tid)
		return false;
	if (time == kept->time)
		return r->walks_exact = true;
	return !r->walks_exact && time - kept->time + MATCH_NS < 2 * MATCH_NS;
}

void recorder_compare(struct recorder *r, const struct perf_event *event,
		      const struct process *process, const struct bobbin_trace *trace)
{
	struct kept_walk *kept = walk_of(r, event);
	uint64_t time = event->time;
	bool match;

	if (!kept)
		return;
	/* a program's copy has the time of its walk beside it */
	if (event->sample.raw && event->sample.raw_size >= sizeof(time))
		memcpy(&time, event->sample.raw, sizeof(time));
	match = is_of_sample(r, kept, event->tid, time);
	kept->valid = false;
	if (!match || trace->reason == BOBBIN_REASON_NO_USER)
		return;
	r->stats.compared++;
	if (!same_walk(process->space, kept, trace))
		r->stats.differ++;
	else if (is_part(trace) || trace->reason == BOBBIN_REASON_NO_CALL)
		r->stats.in_part++;
}

/* samples */

/* As a sample of perf, whose call chain is the kernel's part. */
static void describe_walk(const struct recorder *r, const struct bpf_trace *walked,
			  struct perf_event *ret)
{
	const struct kernel_sample_head *head = &walked->head;
	bool in_kernel = head->flags & KERNEL_HAS_CHAIN;

	*ret = (struct perf_event){
		.type = PERF_RECORD_SAMPLE,
		.misc = in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.pid = head->pid,
		.tid = head->tid,
		.cpu = head->cpu,
		.time = head->time,
		.id = sampler_source(r->sampler, walked->event)->ids[0],
		.sample =
			{
				.period = head->period,
				.callchain = walked->chain,
				.callchain_nr = walked->chain_count,
			},
	};
	if (walked->chain_count > 1)
		ret->sample.ip = walked->chain[1];
	else if (!in_kernel && walked->count)
		ret->sample.ip = walked->frames[0] & KERNEL_PC;
}

int recorder_next_event(struct recorder *r, struct perf_event *ret, const struct bpf_trace **walked)
{
	uint64_t time = r->walk ? bpf_walk_time(r->walk) : UINT64_MAX;
	/* a walk comes before the kernel's sample of the same stack, which has the same time */
	int got = sampler_next(r->sampler, time - 1, ret);

	*walked = NULL;
	if (got || time == UINT64_MAX || time > sampler_horizon(r->sampler))
		return got;
	*walked = bpf_walk_next(r->walk);
	describe_walk(r, *walked, ret);
	return 1;
}

/* A sample whose stack was walked in the kernel. */
int recorder_on_walk(struct recorder *r, const struct perf_event *event,
		     const struct bpf_trace *walked)
{
	struct bobbin_trace trace = recorder_trace(r);
	struct thread *thread;
	bool comparable;
	int error, news;

	error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);
	if (!error)
		error = recorder_ask_sampled(r, thread->process);
	if (error)
		return error;
	comparable = bpf_walk_trace(r->walk, &thread->process->walk, walked, &trace);
	/* between two programs, where the registers are the old one's */
	if (!trace.count && thread->process->in_exec)
		trace.reason = BOBBIN_REASON_NO_USER;
	else if (trace.reason != BOBBIN_REASON_UNLOADED)
		process_has_run(thread->process, &trace);
	/* what is new is for the walks to come: there is no copy of this stack */
	news = recorder_watch_code(r, thread->process, &trace);
	if (news < 0)
		return news;
	r->stats.walked += trace.reason != BOBBIN_REASON_STACK_HOLE;
	r->stats.remapped += trace.reason == BOBBIN_REASON_UNLOADED;
	if (r->walks) {
		/* the sample itself comes next, and is walked by what is known now */
		recorder_drop_walk(r, event);
		if (trace.reason == BOBBIN_REASON_OUTERMOST && comparable && !news)
			keep_walk(r, event, &trace);
		return 0;
	}
	return recorder_put_user(r, event, thread->process, &trace);
}
