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
		const struct bobbin_trace *trace, uint64_t address)
{
	const struct live_block block = {
		.address = address,
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

int recorder_put_block(struct recorder *r, const struct perf_event *event, struct process *process,
		       struct bobbin_trace *trace)
{
	const struct area_block block = area_reader_block(r->options.area);
	struct perf_event allocated = *event;
	int error;

	trim(trace, block.caller);
	if (trace->count)
		allocated.sample.ip = trace->frames[0].pc;
	r->stats.heap.allocated += allocated.sample.period;
	error = recorder_put_user(r, &allocated, process, trace);
	return error ? error : keep(r, &allocated, trace, block.address);
}

void recorder_free_block(struct recorder *r, const struct perf_event *event)
{
	live_blocks_free(r->blocks, (int)event->pid, area_reader_block(r->options.area).address);
}

static int put_again(struct recorder *r, const struct live_block *block, uint64_t id)
{
	const struct thread *own = process_table_find(r->processes, block->tid);
	struct bobbin_trace trace = recorder_trace(r);
	struct perf_event event = {
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.pid = (uint32_t)block->pid,
		/* a thread that has ended has no name */
		.tid = (uint32_t)(own ? block->tid : block->pid),
		.cpu = block->cpu,
		.time = r->time,
		.id = id,
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
	return recorder_give(r, &event, thread->process, &trace);
}

static int put_live(void *ctx, const struct live_block *block)
{
	struct recorder *r = ctx;

	r->stats.heap.live += block->weight;
	return put_again(r, block, r->block_ids[LIVE]);
}

static int put_dumped(void *ctx, const struct live_block *block)
{
	struct recorder *r = ctx;

	return put_again(r, block, r->block_ids[DUMPED]);
}

int recorder_end_blocks(struct recorder *r, int pid)
{
	return r->blocks ? live_blocks_visit(r->blocks, pid, true, put_live, r) : 0;
}

int recorder_dump_blocks(struct recorder *r)
{
	int error = recorder_sweep(r);

	if (error || !r->blocks)
		return error;
	r->stats.heap.dumps++;
	/* one is told from the next by its time */
	return live_blocks_visit(r->blocks, 0, false, put_dumped, r);
}
