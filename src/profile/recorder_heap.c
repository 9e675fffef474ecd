/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recorder's samples of blocks of heaps: each when it is allocated, and once more if it is not freed
 * before its process ends, or when somebody asks.
 *
 * Its stack begins where the program calls the allocator.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "profile/recorder_state.h"

/* Frames of the library that takes the samples, at most. */
#define OWN_FRAMES 4

enum {
	LIVE,
	DUMPED
};

size_t recorder_describe_blocks(struct recorder *r, const struct perf_event_attr *sampled,
				struct sample_event *ret)
{
	static const char *const names[] = {RECORDER_LIVE_EVENT, RECORDER_DUMP_EVENT};

	for (size_t i = 0; i < RECORDER_BLOCK_EVENTS; i++) {
		r->block_ids[i] = AREA_EVENT_ID + 1 + i;
		ret[i] = (struct sample_event){
			.attr = *sampled, .name = names[i], .ids = &r->block_ids[i], .nr_ids = 1};
	}
	return RECORDER_BLOCK_EVENTS;
}

/* Begin with the caller of the allocator, at its call. */
static void trim(struct bobbin_trace *trace, uint64_t caller)
{
	uint32_t at = 0;

	while (at < trace->count && at < OWN_FRAMES && trace->frames[at].pc != caller)
		at++;
	if (at == trace->count || trace->frames[at].pc != caller)
		return;
	trace->count -= at;
	memmove(trace->frames, trace->frames + at, trace->count * sizeof(*trace->frames));
	trace->frames[0].pc--;
	trace->frames[0].exact = true;
}

static int keep(struct recorder *r, const struct perf_event *event,
		const struct bobbin_trace *trace)
{
	const struct live_block block = {
		.address = event->sample.block,
		.time = event->time,
		.weight = event->sample.period,
		.ip = event->sample.ip,
		.pid = (int)event->pid,
		.tid = (int)event->tid,
		.cpu = event->cpu,
		.count = trace->count,
		.reason = trace->reason,
	};
	int error = live_blocks_add(r->blocks, &block, trace->frames);

	r->stats.heap.forgotten += error == -ENOSPC;
	return error == -ENOSPC ? 0 : error;
}

/* Of an allocation, from where the allocator was called. */
static struct perf_event trim_event(const struct perf_event *event, struct bobbin_trace *trace)
{
	struct perf_event allocated = *event;

	trim(trace, event->sample.caller);
	if (trace->count)
		allocated.sample.ip = trace->frames[0].pc;
	return allocated;
}

/* Unless it has gone: @lives. */
static int put_and_keep(struct recorder *r, const struct perf_event *event, struct process *process,
			struct bobbin_trace *trace, bool lives)
{
	const struct perf_event allocated = trim_event(event, trace);
	int error;

	r->stats.heap.allocated += allocated.sample.period;
	error = recorder_put_user(r, &allocated, process, trace);
	return error || !lives ? error : keep(r, &allocated, trace);
}

int recorder_put_block(struct recorder *r, const struct perf_event *event, struct process *process,
		       struct bobbin_trace *trace)
{
	return put_and_keep(r, event, process, trace, true);
}

int recorder_hold_block(struct recorder *r, const struct perf_event *event,
			struct bobbin_trace *trace)
{
	const struct perf_event allocated = trim_event(event, trace);
	int error = keep(r, &allocated, trace);

	return error ? error : recorder_hold(r, event);
}

int recorder_put_held_block(struct recorder *r, const struct perf_event *event,
			    struct process *process, struct bobbin_trace *trace)
{
	const bool lives = live_blocks_has(r->blocks, (int)event->pid, event->sample.block,
					   event->time);

	return put_and_keep(r, event, process, trace, lives);
}

void recorder_free_block(struct recorder *r, const struct perf_event *event)
{
	live_blocks_free(r->blocks, (int)event->pid, event->sample.block);
}

/* Which event they are given by, and when. */
struct giving {
	struct recorder *recorder;
	uint64_t id, time;
};

static int put_again(void *ctx, const struct live_block *block)
{
	const struct giving *giving = ctx;
	struct recorder *r = giving->recorder;
	const struct thread *own = process_table_find(r->processes, block->tid);
	struct bobbin_trace trace = recorder_trace(r);
	struct perf_event event = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)block->pid,
		/* a thread that has ended has no name */
		.tid = (uint32_t)(own ? block->tid : block->pid),
		.cpu = block->cpu,
		.time = giving->time,
		.id = giving->id,
		.sample = {.ip = block->ip, .period = block->weight},
	};
	struct thread *thread;
	int error = process_table_thread(r->processes, block->pid, (int)event.tid, &thread);

	if (error)
		return error;
	trace.count = block->count;
	trace.outer = 0;
	trace.reason = block->reason;
	memcpy(trace.frames, block->frames, block->count * sizeof(*trace.frames));
	if (giving->id == r->block_ids[LIVE])
		r->stats.heap.live += block->weight;
	return recorder_give(r, &event, thread->process, &trace);
}

int recorder_end_blocks(struct recorder *r, int pid, uint64_t time)
{
	struct giving giving = {r, r->block_ids[LIVE], time};

	return r->blocks ? live_blocks_visit(r->blocks, pid, true, put_again, &giving) : 0;
}

int recorder_dump_blocks(struct recorder *r)
{
	struct giving giving = {r, r->block_ids[DUMPED], 0};
	int error = recorder_sweep(r);

	if (error || !r->blocks)
		return error;
	r->stats.heap.dumps++;
	/* one is told from the next by its time */
	giving.time = r->time;
	return live_blocks_visit(r->blocks, 0, false, put_again, &giving);
}
