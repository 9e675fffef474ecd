/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recorder does with each record, and how it ends.
 */
#include "profile/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/process_stat.h"
#include "profile/perf_format.h"
#include "profile/probe_event.h"
#include "profile/recorder_state.h"
#include "profile/ring.h"
#include "unwind/remote_update.h"

#define WAIT_MS 50
/*
 * While tables for the kernel's walks are made, or a ring does not tell; and at first, when what is
 * mapped is not known yet.
 */
#define BUSY_WAIT_MS 10
#define HURRY_PERCENT 25 /* of an area */
#define ASK_USER_NS 10000000ull

/* What is too large for the sink is counted, and sampling goes on. */
static int pass(struct recorder *r, int error)
{
	r->stats.broken += error == -E2BIG;
	return error == -E2BIG ? 0 : error;
}

int recorder_put(void *ctx, const struct perf_event *event)
{
	struct recorder *r = ctx;

	return pass(r, r->options.sink->record(r->options.sink_ctx, event));
}

/* Files are read while they are sure to be there. */
static void preload(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread;

	if (!r->preloads || event->type != PERF_RECORD_MMAP2 ||
	    (event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return;
	if (process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread))
		return;
	bobbin_unwinder_preload(r->unwinder, thread->process->space, event->mmap.addr);
	if (r->walk)
		bpf_walk_mapped(r->walk, &thread->process->walk, event->time, event->mmap.addr);
}

/* With a copy of the memory, not with a thread's own stack. */
static int inherit_calls(struct recorder *r, const struct perf_event *event)
{
	struct thread *parent = process_table_find(r->processes, (int)event->task.ptid);
	struct thread *child = process_table_find(r->processes, (int)event->tid);

	return parent && child && event->pid != event->task.ppid ? return_probes_fork(parent, child)
								 : 0;
}

int recorder_on_record(void *ctx, const struct perf_event *event)
{
	struct recorder *r = ctx;
	int error;

	if (event->type == PERF_RECORD_LOST)
		r->stats.lost += event->lost;
	if (event->type == PERF_RECORD_LOST)
		recorder_forget_walks(r);
	if (event->type == PERF_RECORD_EXIT)
		recorder_note_end(r, event);
	error = recorder_take_in(r, event);
	if (!error && r->returns.count && event->type == PERF_RECORD_FORK)
		error = inherit_calls(r, event);
	if (error)
		return error;
	preload(r, event);
	if (r->walk && event->type == PERF_RECORD_COMM && event->comm.exec)
		bpf_walk_exec(r->walk, (int)event->pid, event->time);
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		error = recorder_put(r, event);
		return error ? error : recorder_tell_images_over(r, event);
	case PERF_RECORD_FORK:
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return recorder_put(r, event);
	default:
		return 0; /* throttling says nothing that the samples' times do not */
	}
}

/* A copy of the stack with the return addresses that were there before probes of returns. */
static struct perf_sample restored(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread = r->returns.count ? process_table_find(r->processes, (int)event->tid)
						 : NULL;
	struct perf_sample sample = event->sample;

	if (thread)
		return_probes_restore(&r->returns, thread, &sample);
	return sample;
}

int recorder_unwind(struct recorder *r, const struct perf_event *event, struct process *process,
		    struct bobbin_trace *trace)
{
	const struct perf_sample sample = restored(r, event);
	const uint64_t missed = unwinder_missed_code(r->unwinder);
	int news = recorder_ask_sampled(r, process);

	if (news)
		return news;
	sample_trace(r->unwinder, native_arch(), process, &sample, trace);
	news = trace->count ? recorder_watch_code(r, process, trace) : 0;
	if (!news && r->options.area)
		news = recorder_watch_maps(r, process, trace,
					   recorder_lacks_rules(r, missed, trace));
	if (news < 0)
		return news;
	if (news) {
		/* the kernel's walk did not know what is known now */
		recorder_drop_walk(r, event);
		sample_trace(r->unwinder, native_arch(), process, &sample, trace);
		return 0;
	}
	recorder_compare(r, event, process, trace);
	return 0;
}

static void count_user(struct recorder *r, const struct bobbin_trace *trace)
{
	if (!trace->count) {
		/* not even the first frame has the code that it was walked by, or is known */
		bool cut = trace->reason == BOBBIN_REASON_UNLOADED ||
			   trace->reason == BOBBIN_REASON_STACK_UNKNOWN ||
			   trace->reason == BOBBIN_REASON_CHAIN_MISSING;

		r->stats.user += cut;
		r->stats.reasons[trace->reason] += cut;
		return;
	}
	r->stats.user++;
	r->stats.deep += trace->left_out != 0;
	r->stats.reasons[trace->reason]++;
	r->stats.frames += trace->count;
	for (uint32_t i = 0; i < trace->count; i++)
		r->stats.inferred += trace->frames[i].source == BOBBIN_SOURCE_CODE;
}

/* Of a stack with more frames, the root and what it called say most. */
static uint32_t outer_frames(uint32_t max)
{
	return max < 4 ? 1 : max / 4;
}

/* The kernel's part goes right before that of the user.  Its frames. */
static size_t insert_kernel(struct recorder *r, const struct perf_sample *sample)
{
	size_t entries = perf_sample_kernel_count(sample), count = 0;
	struct bobbin_frame *end = r->frames + PERF_KERNEL_CHAIN_MAX;

	if (entries > PERF_KERNEL_CHAIN_MAX)
		entries = PERF_KERNEL_CHAIN_MAX;
	while (entries--)
		if (sample->callchain[entries] < PERF_CONTEXT_MAX)
			*(end - ++count) = (struct bobbin_frame){
				.pc = sample->callchain[entries],
				.kernel = true,
			};
	if (count)
		(end - count)->exact = true;
	return count;
}

/* The number among @r->described of the event that a sample is of. */
static size_t event_of(const struct recorder *r, uint64_t id)
{
	const struct owned_id *own = event_ids_find(&r->event_ids, id);

	return own ? own->attr : 0;
}

int recorder_give(struct recorder *r, const struct perf_event *event, const struct process *process,
		  struct bobbin_trace *trace)
{
	size_t number = event_of(r, event->id), kernel = insert_kernel(r, &event->sample);
	const struct sample_event *described = &r->described[number];
	const struct thread *thread = process_table_find(r->processes, (int)event->tid);
	struct stack_sample sample = stack_sample_of(event, &described->attr);

	stack_sample_mark(trace);
	sample.event = described->name;
	sample.event_number = number;
	sample.comm = thread ? thread->comm : "";
	sample.cgroup = process ? process->cgroup.last : NULL;
	sample.process = process;
	sample.frames = r->frames + PERF_KERNEL_CHAIN_MAX - kernel;
	sample.count = kernel + trace->count;
	sample.chained = sample.traced = true;
	sample.reason = trace->reason;
	return pass(r, r->options.sink->sample(r->options.sink_ctx, &sample));
}

struct bobbin_trace recorder_trace(struct recorder *r)
{
	return (struct bobbin_trace){
		.frames = r->frames + PERF_KERNEL_CHAIN_MAX,
		.max = r->options.max_stack,
		.outer = outer_frames(r->options.max_stack),
	};
}

int recorder_put_user(struct recorder *r, const struct perf_event *event, struct process *process,
		      struct bobbin_trace *trace)
{
	count_user(r, trace);
	r->stats.samples++;
	return recorder_give(r, event, process, trace);
}

static int put_chain(struct recorder *r, const struct perf_event *event, struct process *process,
		     const uint64_t *pcs, uint64_t count)
{
	struct bobbin_trace trace = recorder_trace(r);
	int error = recorder_ask_sampled(r, process);

	if (error)
		return error;
	chain_trace(r->unwinder, process->space, pcs, count, &trace);
	error = trace.count ? recorder_watch_code(r, process, &trace) : 0;
	return error < 0 ? error : recorder_put_user(r, event, process, &trace);
}

/* What the kernel has found: give the samples that wait for it. */
static int on_user_chain(struct recorder *r, const struct perf_event *event)
{
	const struct perf_user_chain *chain = &event->user_chain;
	struct deferred_sample *s;
	int error = 0;

	while (!error && (s = deferred_samples_take(&r->deferred, event->tid, chain->cookie))) {
		struct thread *thread;

		error = process_table_thread(r->processes, (int)s->event.pid, (int)s->event.tid,
					     &thread);
		if (!error)
			error = put_chain(r, &s->event, thread->process, chain->pcs, chain->count);
		free(s);
	}
	return error;
}

/* Give the oldest samples that wait without a user part, until @max are left. */
static int give_up(struct recorder *r, size_t max)
{
	struct deferred_sample *s;
	int error = 0;

	while (!error && (s = deferred_samples_drop(&r->deferred, max))) {
		struct bobbin_trace trace = recorder_trace(r);
		struct thread *thread;

		trace.reason = BOBBIN_REASON_CHAIN_MISSING;
		error = process_table_thread(r->processes, (int)s->event.pid, (int)s->event.tid,
					     &thread);
		if (!error)
			error = recorder_put_user(r, &s->event, thread->process, &trace);
		free(s);
	}
	return error;
}

/* A sample whose stack the kernel walks: hold it, or give it if there is nothing to come. */
static int defer(struct recorder *r, const struct perf_event *event, struct process *process)
{
	const struct perf_sample *sample = &event->sample;
	size_t kernel = perf_sample_kernel_count(sample);
	uint64_t cookie;
	int error;

	if (!perf_sample_is_deferred(sample, &cookie))
		return put_chain(r, event, process, sample->callchain + kernel,
				 sample->callchain_nr - kernel);
	error = deferred_samples_hold(&r->deferred, event, cookie);
	return error ? error : give_up(r, DEFERRED_SAMPLES_MAX);
}

/*
 * By its real user, which is looked up again after a while.  Of a process that has ended meanwhile,
 * what was known last counts, and before that its parent's user.
 */
bool recorder_is_of_user(const struct recorder *r, struct process *process)
{
	struct process_owner *owner = &process->owner;
	uint64_t now = clock_now();

	if (!r->options.by_user)
		return true;
	if (now - owner->asked >= ASK_USER_NS) {
		owner->asked = now;
		owner->known |= process_user(process->pid, &owner->user);
	}
	return owner->known && owner->user == r->options.user;
}

/*
 * Whether a sample is of a target, or of what it has started: events that are of all threads have
 * others, too.
 */
static bool is_of_target(struct recorder *r, const struct perf_event *event)
{
	const struct recorder_target *targets = r->options.targets;
	size_t count = r->options.target_count;

	if (!count || !sampler_is_of_all(r->sampler, event->id))
		return true;
	if (!targets[0].tid)
		return process_table_knows(r->processes, (int)event->pid, (int)event->tid);
	for (size_t i = 0; i < count; i++)
		if (targets[i].tid == (int)event->tid)
			return true;
	return false;
}

/* In the kernel the program has seen to it, but for switches. */
static bool is_wanted(const struct recorder *r, struct process *process)
{
	return (r->walk && r->options.event_count == 1) || recorder_is_of_user(r, process);
}

static int on_sample(struct recorder *r, const struct perf_event *event)
{
	struct bobbin_trace trace = recorder_trace(r);
	uint64_t missed = unwinder_missed_code(r->unwinder);
	struct thread *thread;
	int error;

	if (!is_of_target(r, event))
		return 0;
	error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);
	if (!error && !is_wanted(r, thread->process))
		return 0;
	if (!error && r->options.walk == RECORDER_DEFERS)
		return defer(r, event, thread->process);
	if (!error)
		error = recorder_unwind(r, event, thread->process, &trace);
	if (!error && recorder_lacks_rules(r, missed, &trace))
		return r->blocks ? recorder_hold_block(r, event, &trace) : recorder_hold(r, event);
	if (!error && r->blocks)
		return recorder_put_block(r, event, thread->process, &trace);
	return error ? error : recorder_put_user(r, event, thread->process, &trace);
}

static int on_loss(struct recorder *r, const struct perf_event *event)
{
	int error = recorder_lose_waits(r, event);

	if (r->returns.count)
		return_probes_forget(r->processes);
	return error ? error : recorder_on_record(r, event);
}

/* Of a function whose return is probed. */
static int on_entry(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread;
	int error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);

	return error ? error : return_probes_enter(thread, event);
}

static int on_event(struct recorder *r, struct perf_event *event)
{
	bool sample = event->type == PERF_RECORD_SAMPLE, over = false;
	int error = r->options.area ? recorder_on_area(r, event, &over) : 0;

	if (error || over)
		return error;
	if (recorder_on_wait(r, event, &error))
		return error;
	if (sample && return_probes_have(&r->returns, event->id))
		return on_entry(r, event);
	if (sample)
		return on_sample(r, event);
	if (event->type == PERF_RECORD_FORK)
		recorder_drop_foreign(r, (int)event->pid);
	if (event->type == PERF_FILE_CALLCHAIN_DEFERRED)
		return on_user_chain(r, event);
	/* in the file the first event tells */
	event->id = r->id;
	return event->type == PERF_RECORD_LOST ? on_loss(r, event) : recorder_on_record(r, event);
}

static int drain(struct recorder *r, bool final)
{
	const struct bpf_trace *walked;
	struct perf_event event;
	int error = 0, got;

	sampler_sweep(r->sampler, final);
	if (r->walk)
		error = bpf_walk_collect(r->walk);
	if (!error)
		error = recorder_sweep_code(r);
	while (!error && (got = recorder_next_event(r, &event, &walked)) != 0) {
		if (got >= 0)
			r->time = event.time;
		if (got < 0)
			r->stats.broken++;
		else
			error = walked ? recorder_on_walk(r, &event, walked) : on_event(r, &event);
	}
	if (!error && r->options.area)
		error = recorder_sweep_area(r);
	if (r->walk) {
		int missed = bpf_walk_read_until(r->walk, sampler_horizon(r->sampler));

		recorder_follow_all(r, false);
		error = error ? error : missed;
	}
	recorder_change_over(r);
	r->stats.read_until = sampler_horizon(r->sampler);
	if (!error)
		error = final ? recorder_end_held(r) : recorder_retry_held(r);
	/* what is held is older */
	return error || r->held.count ? error : r->options.sink->round(r->options.sink_ctx);
}

struct pollfd *recorder_pollfds(struct recorder *recorder, size_t *count, int *timeout)
{
	bool busy = recorder->walk && bpf_walk_has_tables_to_come(recorder->walk);
	struct pollfd *fds = sampler_pollfds(
		recorder->sampler, recorder->walk ? bpf_walk_wake_fd(recorder->walk) : -1, count);

	/* the last one is the walk's */
	busy |= ring_mute(fds, *count - 1) || clock_now() < recorder->early ||
		recorder->options.area;
	*timeout = busy ? BUSY_WAIT_MS : WAIT_MS;
	if (recorder->behind)
		*timeout = 0;
	/* who allocates waits for room */
	if (recorder->options.heap && area_reader_fill(recorder->options.area) >= HURRY_PERCENT)
		*timeout = 0;
	return fds;
}

int recorder_set_frequency(struct recorder *recorder, uint32_t frequency)
{
	return sampler_set_frequency(recorder->sampler, frequency);
}

void recorder_stop(struct recorder *recorder)
{
	if (!recorder->stopped)
		recorder->stopped = clock_now();
	if (recorder->walk)
		bpf_walk_want_hits(recorder->walk, false);
	sampler_enable(recorder->sampler, false);
	recorder_enable_waits(recorder, false);
}

int recorder_sweep(struct recorder *recorder)
{
	if (!recorder->stats.cut)
		recorder->stats.cut = drain(recorder, false);
	if (recorder->stats.cut)
		recorder_stop(recorder);
	return recorder->stats.cut;
}

static void free_deferred(struct deferred_samples *samples)
{
	struct deferred_sample *s;

	while ((s = deferred_samples_drop(samples, 0)))
		free(s);
}

static void close_recorder(struct recorder *r)
{
	free_deferred(&r->deferred);
	recorder_close_held(r);
	process_table_close(r->processes);
	free(r->walks);
	bpf_walk_close(r->loading);
	bpf_walk_close(r->walk);
	bobbin_unwinder_close(r->unwinder);
	recorder_close_events(r);
	/* the last events of them are gone */
	for (size_t i = 0; r->probes && i < 2 * r->options.event_count; i++)
		probe_event_close(&r->probes[i]);
	free(r->probes);
	free(r->events);
	event_ids_fini(&r->event_ids);
	cgroup_table_fini(&r->cgroups);
	free(r->cgroup_mount);
	free(r->area_files);
	free(r->area_ends);
	live_blocks_close(r->blocks);
	free(r->described);
	free(r);
}

void recorder_settle(struct recorder *recorder, const volatile sig_atomic_t *interrupted)
{
	recorder_stop(recorder);
	unwinder_finish_code(recorder->unwinder, interrupted);
}

int recorder_finish(struct recorder *recorder, struct recorder_stats *stats)
{
	uint64_t waiting;
	int error;

	recorder_stop(recorder);
	if (!recorder->stats.cut)
		recorder->stats.cut = drain(recorder, true);
	if (!recorder->stats.cut)
		recorder->stats.cut = give_up(recorder, 0);
	if (!recorder->stats.cut)
		recorder->stats.cut = recorder_end_blocks(recorder, 0, recorder->time);
	if (!recorder->stats.cut)
		recorder->stats.cut = recorder_end_waits(recorder, recorder->stopped, &waiting);
	error = recorder->options.sink->end(recorder->options.sink_ctx, recorder->stats.cut);
	recorder->stats.given_up =
		process_reader_stats(unwinder_reader(recorder->unwinder)).given_up;
	recorder->stats.left_out = unwinder_left_out(recorder->unwinder);
	if (recorder->walk)
		bpf_walk_stats(recorder->walk, &recorder->stats.kernel);
	recorder->stats.broken += recorder->stats.kernel.broken;
	*stats = recorder->stats;
	close_recorder(recorder);
	return error;
}

void recorder_abort(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->options.sink->abort)
		recorder->options.sink->abort(recorder->options.sink_ctx);
	close_recorder(recorder);
}

const struct recorder_stats *recorder_stats(const struct recorder *recorder)
{
	return &recorder->stats;
}
