/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recording_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/cgroup_table.h"
#include "profile/kept_names.h"
#include "profile/perf_writer.h"
#include "profile/trace_payload.h"
#include "symbol/recorded_names.h"
#include "unwind/module.h"

/* A mark and the frames, of both parts. */
#define CHAIN_MAX (1 + PERF_KERNEL_CHAIN_MAX + 1 + TRACE_CHAIN_MAX)

struct recording {
	struct recording_options options;
	struct sample_source source;
	struct perf_writer *writer;
	struct jit_keeper *keeper;
	struct cgroup_table cgroups; /* that the file has told of */
	struct recording_stats stats;
	struct bobbin_frame frames[TRACE_CHAIN_MAX];
	uint64_t chain[CHAIN_MAX];
	uint8_t payload[TRACE_PAYLOAD_MAX];
};

int recording_open(const struct recording_options *options, struct recording **ret)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->cgroups.seed = hash_seed();
	*ret = r;
	return 0;
}

static void discard(void *ctx)
{
	struct recording *r = ctx;

	perf_writer_abort(r->writer);
	jit_keeper_close(r->keeper);
	r->writer = NULL;
	r->keeper = NULL;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	discard(recording);
	cgroup_table_fini(&recording->cgroups);
	free(recording);
}

const struct recording_stats *recording_stats(const struct recording *recording)
{
	return &recording->stats;
}

static int write_event(void *ctx, const struct perf_event *event)
{
	const struct recording *r = ctx;

	return perf_writer_put(r->writer, event);
}

static int begin_file(void *ctx, const struct sample_source *source)
{
	struct recording *r = ctx;
	int error;

	r->source = *source;
	error = perf_writer_open(r->options.path, source->events, source->event_count, &r->writer);
	return error ? error
		     : jit_keeper_open(perf_writer_is_stream(r->writer) ? NULL : r->options.path,
				       unwinder_reader(source->unwinder), source->events[0].ids[0],
				       write_event, r, &r->keeper);
}

/* To a process that was forked, not to a thread. */
static void hand_names_on(const struct recording *r, const struct perf_event *event)
{
	const struct thread *child = process_table_find(r->source.processes, (int)event->tid);

	if (child && event->pid != event->task.ppid)
		jit_keeper_fork(r->keeper, (int)event->task.ppid, child->process);
}

static int write_record(void *ctx, const struct perf_event *event)
{
	struct recording *r = ctx;

	if (event->type == PERF_RECORD_FORK)
		hand_names_on(r, event);
	return write_event(r, event);
}

/* The kernel's frames come first. */
static size_t kernel_count(const struct stack_sample *sample)
{
	size_t count = 0;

	while (count < sample->count && sample->frames[count].kernel)
		count++;
	return count;
}

static struct perf_sample encode(struct recording *r, const struct stack_sample *sample,
				 size_t kernel, struct bobbin_trace *user)
{
	struct trace_gaps gaps;
	size_t count = 0;

	trace_gaps_take(user, &gaps);
	if (kernel)
		r->chain[count++] = PERF_CONTEXT_KERNEL;
	for (size_t i = 0; i < kernel; i++)
		r->chain[count++] = sample->frames[i].pc;
	if (user->count)
		r->chain[count++] = PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < user->count; i++)
		r->chain[count++] = user->frames[i].pc;
	return (struct perf_sample){
		.ip = sample->ip,
		.period = sample->period,
		.callchain = r->chain,
		.callchain_nr = count,
		.raw = r->payload,
		.raw_size = (uint32_t)trace_payload_write(user, &gaps, r->payload),
	};
}

/* What there is to be known of the code of a sample, while its process lives. */
static int keep_names(struct recording *r, const struct stack_sample *sample,
		      const struct bobbin_trace *user)
{
	int error = 0;

	if (r->options.names)
		error = name_recorder_kernel(r->options.names, sample->frames,
					     sample->count - user->count);
	if (error || !user->count)
		return error;
	if (r->options.names)
		error = name_recorder_trace(r->options.names, sample->process->space, user);
	return error ? error : jit_keeper_trace(r->keeper, sample->process, user, sample->time);
}

/* Before the first sample of it. */
static int tell_cgroup(struct recording *r, const struct cgroup *cgroup)
{
	/* as by perf itself without a time: it was so before */
	const struct perf_event event = {
		.type = PERF_RECORD_CGROUP,
		.id = r->source.events[0].ids[0],
		.cgroup = {cgroup->id, cgroup->path},
	};
	int error;

	if (cgroup_table_find(&r->cgroups, cgroup->id))
		return 0;
	error = cgroup_table_add(&r->cgroups, cgroup->id, cgroup->path);
	return error ? error : write_event(r, &event);
}

static int write_sample(void *ctx, const struct stack_sample *sample)
{
	struct recording *r = ctx;
	size_t kernel = kernel_count(sample);
	struct bobbin_trace user = {
		.frames = r->frames,
		.count = (uint32_t)(sample->count - kernel),
		.reason = sample->reason,
	};
	struct perf_event event = {
		.type = PERF_RECORD_SAMPLE,
		.misc = sample->misc,
		.pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->tid,
		.cpu = sample->cpu,
		.time = sample->time,
		.id = sample->id,
	};
	int error;

	if (kernel > PERF_KERNEL_CHAIN_MAX || user.count > TRACE_CHAIN_MAX)
		return -E2BIG;
	memcpy(r->frames, sample->frames + kernel, user.count * sizeof(*r->frames));
	error = keep_names(r, sample, &user);
	if (!error && sample->cgroup)
		error = tell_cgroup(r, sample->cgroup);
	if (error)
		return error;
	event.sample = encode(r, sample, kernel, &user);
	event.sample.cgroup = sample->cgroup ? sample->cgroup->id : 0;
	return perf_writer_put(r->writer, &event);
}

static int end_round(void *ctx)
{
	struct recording *r = ctx;
	int error = jit_keeper_sweep(r->keeper);

	return error ? error : perf_writer_round(r->writer);
}

static int write_names(struct recording *r)
{
	struct byte_buffer blob = {0};
	int error = 0;

	if (r->options.names &&
	    !name_recorder_finish(r->options.names, r->source.unwinder, &blob) && blob.size &&
	    !blob.failed)
		error = perf_writer_feature(r->writer, RECORDED_NAMES_FEATURE, &blob);
	byte_buffer_fini(&blob);
	return error;
}

static int end_file(void *ctx, int error)
{
	struct recording *r = ctx;
	const struct perf_writer_info info = {
		.version = r->options.version,
		.argv = r->options.argv,
		.kept = &r->stats.kept,
	};

	r->stats.cut = error ? error : write_names(r);
	r->stats.told = jit_keeper_stats(r->keeper).functions;
	r->stats.told_error = jit_keeper_stats(r->keeper).error;
	error = perf_writer_finish(r->writer, &info);
	r->writer = NULL;
	discard(r);
	if (!error || !r->stats.kept)
		return error;
	r->stats.cut = error;
	return 0;
}

const struct sample_sink recording_sink = {
	.begin = begin_file,
	.sample = write_sample,
	.record = write_record,
	.round = end_round,
	.end = end_file,
	.abort = discard,
};
