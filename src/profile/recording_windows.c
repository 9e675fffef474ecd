/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recording_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "profile/process_table.h"
#include "unwind/space.h"

/* A window whose recording has failed is no longer than that from then on. */
#define RETRY_NS (10 * NS_PER_SECOND)

struct recording_windows {
	struct recording_windows_options options;
	struct sample_source source;
	struct sample_event *events; /* of @source */
	struct perf_event kernel;    /* the mapping of its code, which the kernel tells once */
	char *kernel_name;           /* of @kernel; NULL: not told yet */
	/* of this window */
	uint64_t number; /* 1.. */
	uint64_t due;    /* clock_now() */
	char *path;
	struct recording *recording; /* NULL: nothing yet, or it has failed */
	struct window_result result;
};

int recording_windows_open(const struct recording_windows_options *options,
			   struct recording_windows **ret)
{
	struct recording_windows *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->options = *options;
	w->number = 1;
	*ret = w;
	return 0;
}

static void forget_recording(struct recording_windows *w)
{
	recording_close(w->recording);
	w->recording = NULL;
}

static void forget_window(void *ctx)
{
	struct recording_windows *w = ctx;

	forget_recording(w);
	free(w->path);
	w->path = NULL;
}

void recording_windows_close(struct recording_windows *windows)
{
	if (!windows)
		return;
	forget_window(windows);
	free(windows->kernel_name);
	free(windows->events);
	free(windows);
}

void recording_windows_frequency(struct recording_windows *windows, uint32_t frequency)
{
	for (size_t i = 0; i < windows->source.event_count; i++)
		if (windows->events[i].attr.freq)
			windows->events[i].attr.sample_freq = frequency;
}

void recording_windows_cut(struct recording_windows *windows)
{
	windows->due = 0;
}

static int begin_windows(void *ctx, const struct sample_source *source)
{
	struct recording_windows *w = ctx;

	w->events = calloc(source->event_count, sizeof(*w->events));
	if (!w->events)
		return -ENOMEM;
	memcpy(w->events, source->events, source->event_count * sizeof(*w->events));
	w->source = *source;
	w->source.events = w->events;
	w->due = clock_now() + w->options.ns;
	return 0;
}

/* The recording gets no more; what there is of it becomes a file. */
static void end_recording(struct recording_windows *w, int error)
{
	const struct recording_stats *stats = recording_stats(w->recording);
	int lost = recording_sink.end(w->recording, error);

	w->result.kept = lost ? 0 : stats->kept;
	w->result.error = lost ? lost : stats->cut;
	forget_recording(w);
}

static void end_window(struct recording_windows *w, int error)
{
	if (w->recording)
		end_recording(w, error);
	if (w->path)
		w->options.over(w->options.ctx, &w->result);
	forget_window(w);
	w->result = (struct window_result){0};
	w->number++;
	w->due = clock_now() + w->options.ns;
}

static void retry_soon(struct recording_windows *w)
{
	const uint64_t due = clock_now() + RETRY_NS;

	if (due < w->due)
		w->due = due;
}

/* What goes wrong with one recording, the next one may do better. */
static int heed(struct recording_windows *w, int error)
{
	if (!error || error == -E2BIG || error == -ENOMEM)
		return error;
	end_recording(w, error);
	retry_soon(w);
	return 0;
}

static int put(struct recording_windows *w, const struct perf_event *event)
{
	return w->recording ? heed(w, recording_sink.record(w->recording, event)) : 0;
}

static int begin_recording(struct recording_windows *w)
{
	struct recording_options options = {
		.version = w->options.version,
		.argv = w->options.argv,
		.names = w->options.names,
	};
	int error;

	w->path = w->options.name(w->options.ctx);
	options.path = w->result.path = w->path;
	error = w->path ? recording_open(&options, &w->recording) : -ENOMEM;
	if (error)
		return error;
	if (w->options.names)
		name_recorder_reset(w->options.names);
	error = recording_sink.begin(w->recording, &w->source);
	if (error) {
		w->result.error = error;
		forget_recording(w);
		retry_soon(w);
		return error == -ENOMEM ? error : 0;
	}
	return w->kernel_name ? put(w, &w->kernel) : 0;
}

/* One that has failed does not begin again. */
static int ensure_recording(struct recording_windows *w)
{
	return w->path ? 0 : begin_recording(w);
}

/* descriptions */

static struct perf_event description(const struct recording_windows *w,
				     const struct stack_sample *sample, uint32_t type)
{
	return (struct perf_event){
		.type = type,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->pid,
		.cpu = sample->cpu,
		.time = sample->time,
		.id = w->events[0].ids[0],
	};
}

/* @exec: what another process of that number had is forgotten. */
static int tell_comm(struct recording_windows *w, const struct stack_sample *sample, int tid,
		     const char *comm, bool exec)
{
	struct perf_event event = description(w, sample, PERF_RECORD_COMM);

	event.tid = (uint32_t)tid;
	event.comm.comm = comm;
	event.comm.exec = exec;
	return put(w, &event);
}

static int tell_mapping(struct recording_windows *w, const struct stack_sample *sample,
			const struct mapping *m)
{
	struct perf_event event = description(w, sample, PERF_RECORD_MMAP2);

	event.mmap = (struct perf_mmap){
		.addr = m->start,
		.len = m->end - m->start,
		.pgoff = m->offset,
		.maj = m->file->major,
		.min = m->file->minor,
		.ino = m->file->ino,
		.ino_gen = m->file->generation,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.build_id_len = m->file->build_id_len,
		.filename = *m->path ? m->path : "//anon",
	};
	memcpy(event.mmap.build_id, m->file->build_id, sizeof(m->file->build_id));
	return put(w, &event);
}

static int tell_process(struct recording_windows *w, const struct stack_sample *sample,
			const struct process *process)
{
	struct thread *leader = process_table_find(w->source.processes, process->pid);
	const bool has_leader = leader && leader->process == process;
	int error = tell_comm(w, sample, process->pid, has_leader ? leader->comm : sample->comm,
			      true);

	if (has_leader)
		leader->window = w->number;
	for (size_t i = 0; i < process->space->maps.count && !error; i++)
		error = tell_mapping(w, sample, &process->space->maps.list[i]);
	return error;
}

static struct thread *thread_of(const struct recording_windows *w,
				const struct stack_sample *sample, int tid)
{
	struct thread *thread = process_table_find(w->source.processes, tid);

	return thread && thread->process->pid == sample->pid ? thread : NULL;
}

/* One that the table does not lead to any more is told of with each sample. */
static int describe_process(struct recording_windows *w, const struct stack_sample *sample,
			    const struct thread *thread)
{
	const struct thread *leader = thread ? thread : thread_of(w, sample, sample->pid);

	if (!leader)
		return sample->process ? tell_process(w, sample, sample->process) : 0;
	if (leader->process->window == w->number)
		return 0;
	leader->process->window = w->number;
	return tell_process(w, sample, leader->process);
}

/* What the recording does not have yet of whose sample it is. */
static int describe(struct recording_windows *w, const struct stack_sample *sample)
{
	struct thread *thread = thread_of(w, sample, sample->tid);
	int error = describe_process(w, sample, thread);

	if (error || (thread && thread->window == w->number))
		return error;
	if (thread)
		thread->window = w->number;
	return tell_comm(w, sample, sample->tid, thread ? thread->comm : sample->comm, false);
}

/* the sink's functions */

static int take_sample(void *ctx, const struct stack_sample *sample)
{
	struct recording_windows *w = ctx;
	int error = ensure_recording(w);

	w->result.samples++;
	if (!error && w->recording)
		error = describe(w, sample);
	return error || !w->recording ? error
				      : heed(w, recording_sink.sample(w->recording, sample));
}

static int keep_kernel(struct recording_windows *w, const struct perf_event *event)
{
	char *name = strdup(event->mmap.filename);

	if (!name)
		return -ENOMEM;
	free(w->kernel_name);
	w->kernel_name = name;
	w->kernel = *event;
	w->kernel.mmap.filename = name;
	return 0;
}

static bool is_of_kernel(const struct perf_event *event)
{
	return (event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Whether the recording has the process, or the thread, that was told of. */
static bool is_described(const struct recording_windows *w, const struct perf_event *event)
{
	const struct thread *thread = process_table_find(w->source.processes, (int)event->tid);

	if (!thread || thread->process->pid != (int)event->pid)
		return false;
	if (event->type == PERF_RECORD_COMM && !event->comm.exec)
		return thread->window == w->number;
	return thread->process->window == w->number;
}

static int take_record(void *ctx, const struct perf_event *event)
{
	struct recording_windows *w = ctx;
	int error;

	switch (event->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		error = ensure_recording(w);
		return error ? error : put(w, event);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		error = is_of_kernel(event) ? keep_kernel(w, event) : 0;
		if (!error && (is_of_kernel(event) || is_described(w, event)))
			error = put(w, event);
		return error;
	case PERF_RECORD_KSYMBOL:
		return put(w, event);
	case PERF_RECORD_COMM:
		return is_described(w, event) ? put(w, event) : 0;
	default: /* who is forked is described, and who ends has no more samples */
		return 0;
	}
}

static int end_round(void *ctx)
{
	struct recording_windows *w = ctx;
	int error = w->recording ? heed(w, recording_sink.round(w->recording)) : 0;

	if (!error && clock_now() >= w->due)
		end_window(w, 0);
	return error;
}

static int end_windows(void *ctx, int error)
{
	end_window(ctx, error);
	return 0;
}

const struct sample_sink recording_windows_sink = {
	.begin = begin_windows,
	.sample = take_sample,
	.record = take_record,
	.round = end_round,
	.end = end_windows,
	.abort = forget_window,
};
