/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/native_arch.h"
#include "profile/code_watch.h"
#include "profile/image_records.h"
#include "profile/jit_keeper.h"
#include "profile/kernel_walk.h"
#include "profile/perf_writer.h"
#include "profile/process_table.h"
#include "profile/sample_regs.h"
#include "profile/sample_trace.h"
#include "profile/sampler.h"
#include "profile/snapshot.h"
#include "profile/trace_payload.h"
#include "profile/walk_comparison.h"
#include "target/thread.h"
#include "unwind/module.h"
#include "unwind/remote_update.h"

/* Kernel part, mark, user part. */
#define KERNEL_MAX 256
#define CHAIN_MAX (KERNEL_MAX + 1 + TRACE_CHAIN_MAX)
#define WAIT_MS 50
/* While tables for the kernel's walks are made. */
#define BUSY_WAIT_MS 2

struct recorder {
	struct recorder_options options;
	struct sampler *sampler;
	struct bobbin_unwinder *unwinder;
	struct process_table *processes;
	struct perf_writer *writer;
	struct jit_keeper *keeper;
	struct kernel_walk *walk;           /* or NULL */
	struct walk_comparison *comparison; /* or NULL */
	uint64_t id;                        /* that marks our own records */
	uint64_t time;                      /* of the last record, on the recording's clock */
	int error;                          /* of writing, in a visit of all processes */
	struct recorder_stats stats;
	struct bobbin_frame frames[TRACE_CHAIN_MAX];
	uint64_t chain[CHAIN_MAX];
	uint8_t payload[TRACE_PAYLOAD_MAX];
};

/* Appends the threads of a target to @tids. */
static int add_threads(const struct recorder_target *target, pid_t **tids, size_t *count,
		       size_t *capacity)
{
	pid_t *own = NULL;
	int n = target->tid ? 1 : thread_list(target->pid, &own), r;

	if (n < 0)
		return n;
	r = vector_reserve(tids, capacity, *count + (size_t)n, sizeof(**tids));
	if (!r) {
		memcpy(*tids + *count, target->tid ? &target->tid : own, (size_t)n * sizeof(*own));
		*count += (size_t)n;
	}
	free(own);
	return r;
}

static int open_sampler(struct recorder *r)
{
	struct sampler_options options = {
		.frequency = r->options.frequency,
		.stack_bytes = r->options.stack_bytes,
		.regs_mask = sample_regs_mask(native_arch()),
		.enable_on_exec = r->options.enable_on_exec,
		.outputs = r->options.kernel_walk,
	};
	const pid_t everyone = -1;
	pid_t *tids = NULL;
	size_t capacity = 0;
	int error = 0;

	if (r->options.all) {
		options.tids = &everyone;
		options.tid_count = 1;
		options.no_inherit = true;
		options.wait = r->walk;
		return sampler_open(&options, &r->sampler);
	}
	for (size_t i = 0; i < r->options.target_count && !error; i++)
		error = add_threads(&r->options.targets[i], &tids, &options.tid_count, &capacity);
	options.tids = tids;
	options.no_inherit = r->options.targets[0].tid;
	if (!error)
		error = sampler_open(&options, &r->sampler);
	free(tids);
	return error;
}

static int open_writer(struct recorder *r)
{
	struct perf_writer_event event = {.attr = *sampler_attr(r->sampler)};
	const uint64_t *ids;

	event.name = sampler_event_name(r->sampler);
	event.nr_ids = sampler_ids(r->sampler, &ids);
	event.ids = ids;
	r->id = ids[0];
	return perf_writer_open(r->options.path, &event, &r->writer);
}

static int put(void *ctx, const struct perf_event *event)
{
	struct recorder *r = ctx;
	int error = perf_writer_put(r->writer, event);

	/* a record of 64 KiB and more: count it, the recording goes on */
	if (error != -E2BIG)
		return error;
	r->stats.broken++;
	return 0;
}

/* Files are read while they are sure to be there. */
static void preload(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread;

	if (event->type != PERF_RECORD_MMAP2 ||
	    (event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return;
	if (!process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread))
		bobbin_unwinder_preload(r->unwinder, thread->process->space, event->mmap.addr);
}

static int tell_images(struct recorder *r, struct process *process)
{
	return image_records(process, r->time, r->id, put, r);
}

/* What is told of memory holds from the kernel's record of it on: images are told again. */
static int tell_images_over(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread;
	int error = 0;

	if (process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread) ||
	    !image_records_told(thread->process, &event->mmap))
		return 0;
	if (code_watch_ask_page(r->unwinder, thread->process))
		error = tell_images(r, thread->process);
	return error ? error : image_records_over(thread->process, event, r->id, put, r);
}

static int on_record(void *ctx, const struct perf_event *event)
{
	struct recorder *r = ctx;
	int error;

	if (event->type == PERF_RECORD_LOST)
		r->stats.lost += event->lost;
	if (event->type == PERF_RECORD_LOST && r->comparison)
		walk_comparison_forget(r->comparison);
	error = process_table_event(r->processes, event);
	if (error)
		return error;
	preload(r, event);
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		error = put(r, event);
		return error ? error : tell_images_over(r, event);
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return put(r, event);
	default:
		return 0; /* throttling says nothing that the samples' times do not */
	}
}

static size_t kernel_part(struct recorder *r, const struct perf_sample *sample)
{
	size_t count = 0;

	for (uint64_t i = 0; i < sample->callchain_nr && count < KERNEL_MAX; i++) {
		if (sample->callchain[i] == PERF_CONTEXT_USER)
			break;
		r->chain[count++] = sample->callchain[i];
	}
	return count;
}

static void compare(struct recorder *r, const struct perf_event *event,
		    const struct bobbin_trace *trace)
{
	enum walk_agreement found = walk_comparison_check(r->comparison, event, trace);

	r->stats.compared += found != WALKS_UNCOMPARED;
	r->stats.in_part += found == WALKS_AGREE_IN_PART;
	r->stats.differ += found == WALKS_DIFFER;
}

/* From the sample's copy of the stack. */
static int unwind_copy(struct recorder *r, const struct perf_event *event, struct process *process,
		       struct bobbin_trace *trace)
{
	sample_trace(r->unwinder, native_arch(), process, &event->sample, trace);
	if (trace->count && code_watch_trace(r->unwinder, process, trace)) {
		/* the kernel's walk did not know what is known now */
		if (r->comparison)
			walk_comparison_drop(r->comparison, event);
		sample_trace(r->unwinder, native_arch(), process, &event->sample, trace);
		return tell_images(r, process);
	}
	if (r->comparison)
		compare(r, event, trace);
	return 0;
}

/* What is done with each user part. */
static int keep_user(struct recorder *r, const struct perf_event *event, struct process *process,
		     const struct bobbin_trace *trace)
{
	int error = 0;

	if (!trace->count) {
		/* not even the first frame has the code that it was walked by */
		bool cut = trace->reason == BOBBIN_REASON_UNLOADED;

		r->stats.user += cut;
		r->stats.reasons[trace->reason] += cut;
		return 0;
	}
	if (r->options.names.trace)
		error = r->options.names.trace(r->options.names.ctx, process->space, trace);
	if (error)
		return error;
	r->stats.user++;
	r->stats.deep += trace->left_out != 0;
	r->stats.reasons[trace->reason]++;
	return jit_keeper_trace(r->keeper, (int)event->pid, process->space, trace, event->time);
}

/* Of a stack with more frames, the root and what it called say most. */
static uint32_t outer_frames(uint32_t max)
{
	return max < 4 ? 1 : max / 4;
}

static int put_sample(struct recorder *r, const struct perf_event *event,
		      struct bobbin_trace *trace)
{
	struct perf_event out = *event;
	struct trace_gaps gaps;
	size_t count;

	trace_gaps_take(trace, &gaps);
	count = kernel_part(r, &event->sample);
	if (trace->count)
		r->chain[count++] = PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < trace->count; i++)
		r->chain[count++] = r->frames[i].pc;

	out.id = r->id;
	out.sample.callchain = r->chain;
	out.sample.callchain_nr = count;
	out.sample.raw = r->payload;
	out.sample.raw_size = (uint32_t)trace_payload_write(trace, &gaps, r->payload);
	return put(r, &out);
}

static struct bobbin_trace new_trace(struct recorder *r)
{
	return (struct bobbin_trace){
		.frames = r->frames,
		.max = r->options.max_stack,
		.outer = outer_frames(r->options.max_stack),
	};
}

static int on_sample(struct recorder *r, const struct perf_event *event)
{
	struct bobbin_trace trace = new_trace(r);
	struct thread *thread;
	int error;

	r->stats.samples++;
	error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);
	if (!error)
		error = unwind_copy(r, event, thread->process, &trace);
	if (!error)
		error = keep_user(r, event, thread->process, &trace);
	return error ? error : put_sample(r, event, &trace);
}

/* A sample whose stack was walked in the kernel. */
static int on_walk(struct recorder *r, struct perf_event *event)
{
	struct bobbin_trace trace = new_trace(r);
	struct thread *thread;
	int error;

	error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);
	if (error)
		return error;
	if (!kernel_walk_trace(r->walk, thread->process, &event->sample, &trace,
			       &event->sample.period)) {
		r->stats.broken++;
		return 0;
	}
	/* between two programs, where the registers are the old one's */
	if (!trace.count && thread->process->in_exec)
		trace.reason = BOBBIN_REASON_NO_USER;
	else if (trace.reason != BOBBIN_REASON_UNLOADED)
		process_has_run(thread->process, &trace);
	/* what is new is for the walks to come: there is no copy of this stack */
	if (code_watch_trace(r->unwinder, thread->process, &trace))
		error = tell_images(r, thread->process);
	if (error)
		return error;
	r->stats.walked += trace.reason != BOBBIN_REASON_STACK_HOLE;
	r->stats.remapped += trace.reason == BOBBIN_REASON_UNLOADED;
	if (r->comparison) {
		/* the sample itself comes next */
		walk_comparison_drop(r->comparison, event);
		if (trace.reason == BOBBIN_REASON_OUTERMOST)
			walk_comparison_keep(r->comparison, event, &trace);
		return 0;
	}
	r->stats.samples++;
	error = keep_user(r, event, thread->process, &trace);
	return error ? error : put_sample(r, event, &trace);
}

static int on_event(struct recorder *r, struct perf_event *event)
{
	bool walk = sampler_is_output(r->sampler, event->id);

	/* in the file there is one event */
	if (walk)
		event->id = r->id;
	if (event->type != PERF_RECORD_SAMPLE)
		return on_record(r, event);
	return walk ? on_walk(r, event) : on_sample(r, event);
}

static void follow(void *ctx, struct process *process)
{
	const struct recorder *r = ctx;

	kernel_walk_follow(r->walk, process);
}

/* @wait: for all tables */
static void follow_all(struct recorder *r, bool wait)
{
	kernel_walk_take_tables(r->walk, wait);
	process_table_visit(r->processes, follow, r);
}

static void forget(void *ctx, struct process *process)
{
	const struct recorder *r = ctx;

	kernel_walk_forget(r->walk, process);
}

static void watch_code(void *ctx, struct process *process)
{
	struct recorder *r = ctx;

	if (code_watch_sweep(r->unwinder, process) && !r->error)
		r->error = tell_images(r, process);
}

static int drain(struct recorder *r, bool final)
{
	struct perf_event event;
	int error = 0, got;

	sampler_sweep(r->sampler, final);
	if (r->walk)
		kernel_walk_collect(r->walk);
	process_table_visit(r->processes, watch_code, r);
	error = r->error;
	while (!error && (got = sampler_next(r->sampler, &event)) != 0) {
		if (got >= 0)
			r->time = event.time;
		if (got < 0)
			r->stats.broken++;
		else
			error = on_event(r, &event);
	}
	if (r->walk)
		follow_all(r, false);
	if (!error)
		error = jit_keeper_sweep(r->keeper);
	return error ? error : perf_writer_round(r->writer);
}

static int describe_process(struct recorder *r, pid_t pid)
{
	const struct remote_process process = {unwinder_reader(r->unwinder), pid};
	struct thread *thread;
	int error = snapshot_process(&process, r->id, on_record, r);

	if (!error)
		error = process_table_thread(r->processes, pid, pid, &thread);
	if (!error && code_watch_ask(r->unwinder, thread->process))
		error = tell_images(r, thread->process);
	return error;
}

/* Those that end meanwhile, or hide what they are, are left out. */
static int describe_all(struct recorder *r)
{
	pid_t *pids = NULL;
	int count = process_list(&pids), error = count < 0 ? count : 0;

	for (int i = 0; i < count && error != -ENOMEM; i++)
		error = describe_process(r, pids[i]);
	free(pids);
	return error == -ENOMEM ? error : 0;
}

static int describe_past(struct recorder *r, enum recorder_stage *stage)
{
	const struct recorder_target *targets = r->options.targets;
	int error;

	*stage = RECORDER_OUTPUT;
	error = snapshot_kernel(r->id, on_record, r);
	if (error || r->options.enable_on_exec)
		return error;
	*stage = RECORDER_PROCESS;
	if (r->options.all)
		return describe_all(r);
	for (size_t i = 0; i < r->options.target_count && !error; i++)
		if (!i || targets[i].pid != targets[i - 1].pid)
			error = describe_process(r, targets[i].pid);
	return error;
}

/* From here on the samples of all events are walked in the kernel, as far as it goes. */
static int attach_walk(struct recorder *r)
{
	const int *events;
	size_t count = sampler_events(r->sampler, &events);
	int error = 0, fd, cpu;

	for (size_t i = 0; !error && sampler_output(r->sampler, i, &fd, &cpu); i++)
		error = kernel_walk_output(r->walk, cpu, fd);
	for (size_t i = 0; i < count && !error; i++)
		error = kernel_walk_attach(r->walk, events[i]);
	return error;
}

static int open_walk(struct recorder *r)
{
	int error = kernel_walk_open(r->unwinder, r->options.also_copy, &r->walk);

	if (!error && r->options.also_copy)
		error = walk_comparison_open(&r->comparison);
	if (!error)
		process_table_watch(r->processes, forget, r);
	return error;
}

static int open_events(struct recorder *r, enum recorder_stage *stage)
{
	int error = 0;

	*stage = RECORDER_KERNEL_WALK;
	if (r->options.kernel_walk)
		error = open_walk(r);
	if (error)
		return error;
	*stage = RECORDER_SAMPLER;
	error = open_sampler(r);
	if (error || !r->walk)
		return error;
	*stage = RECORDER_KERNEL_WALK;
	return attach_walk(r);
}

static int open_all(struct recorder *r, enum recorder_stage *stage)
{
	int error;

	*stage = RECORDER_MEMORY;
	error = bobbin_unwinder_open(&r->options.unwind, &r->unwinder);
	if (!error)
		error = process_table_open(r->unwinder, native_arch(), true, &r->processes);
	if (error)
		return error;
	error = open_events(r, stage);
	if (error)
		return error;
	*stage = RECORDER_OUTPUT;
	error = open_writer(r);
	if (!error)
		error = jit_keeper_open(perf_writer_is_stream(r->writer) ? NULL : r->options.path,
					unwinder_reader(r->unwinder), r->id, put, r, &r->keeper);
	if (!error)
		error = describe_past(r, stage);
	if (error || !r->walk)
		return error;
	/* what is asked for first is had second */
	follow_all(r, false);
	follow_all(r, true);
	if (r->options.all)
		sampler_enable(r->sampler);
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
	error = open_all(r, stage);
	if (error)
		recorder_abort(r);
	else
		*ret = r;
	return error;
}

struct pollfd *recorder_pollfds(struct recorder *recorder, size_t *count, int *timeout)
{
	bool busy = recorder->walk && kernel_walk_has_tables_to_come(recorder->walk);

	*timeout = busy ? BUSY_WAIT_MS : WAIT_MS;
	return sampler_pollfds(recorder->sampler, count);
}

void recorder_stop(struct recorder *recorder)
{
	sampler_disable(recorder->sampler);
}

int recorder_sweep(struct recorder *recorder)
{
	if (!recorder->stats.cut)
		recorder->stats.cut = drain(recorder, false);
	if (recorder->stats.cut)
		recorder_stop(recorder);
	return recorder->stats.cut;
}

static void close_all(struct recorder *r)
{
	jit_keeper_close(r->keeper);
	process_table_close(r->processes);
	walk_comparison_close(r->comparison);
	kernel_walk_close(r->walk);
	bobbin_unwinder_close(r->unwinder);
	sampler_close(r->sampler);
	free(r);
}

static int keep_names(struct recorder *r)
{
	const struct recorder_names *names = &r->options.names;
	struct byte_buffer blob = {0};
	int error = 0;

	if (names->finish && !names->finish(names->ctx, r->unwinder, &blob) && blob.size &&
	    !blob.failed)
		error = perf_writer_feature(r->writer, r->options.names_feature, &blob);
	byte_buffer_fini(&blob);
	return error;
}

int recorder_finish(struct recorder *recorder, struct recorder_stats *stats)
{
	struct perf_writer_info info = {
		.version = recorder->options.version,
		.argv = recorder->options.argv,
		.kept = &recorder->stats.kept,
	};
	int error;

	recorder_stop(recorder);
	if (!recorder->stats.cut)
		recorder->stats.cut = drain(recorder, true);
	if (!recorder->stats.cut)
		recorder->stats.cut = keep_names(recorder);
	recorder->stats.told = jit_keeper_stats(recorder->keeper).functions;
	recorder->stats.given_up =
		process_reader_stats(unwinder_reader(recorder->unwinder)).given_up;
	recorder->stats.left_out = unwinder_left_out(recorder->unwinder);
	recorder->stats.told_error = jit_keeper_stats(recorder->keeper).error;
	if (recorder->walk)
		kernel_walk_stats(recorder->walk, &recorder->stats.kernel);
	error = perf_writer_finish(recorder->writer, &info);
	if (error && recorder->stats.kept) {
		recorder->stats.cut = error;
		error = 0;
	}
	*stats = recorder->stats;
	close_all(recorder);
	return error;
}

void recorder_abort(struct recorder *recorder)
{
	if (!recorder)
		return;
	perf_writer_abort(recorder->writer);
	close_all(recorder);
}

const struct recorder_stats *recorder_stats(const struct recorder *recorder)
{
	return &recorder->stats;
}
