/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recorder learns of processes that sample themselves, which no kernel tells of.
 *
 * A program says what it has mapped when it begins and has loaded libraries, and its process when it
 * was forked.  Other memory is looked for in /proc when a stack leads there; a
 * thread's name comes with each sample; who has ended is asked for.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vector.h"
#include "profile/recorder_state.h"
#include "unwind/space.h"

/* Who has ended is told that often. */
#define ENDS_NS NS_PER_SECOND

static int tell_name(struct recorder *r, const struct perf_event *sample)
{
	const struct thread *thread = process_table_find(r->processes, (int)sample->tid);
	struct perf_event event = {
		.type = PERF_RECORD_COMM,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.time = sample->time,
		.id = r->id,
		.comm = {.comm = area_reader_comm(r->options.area)},
	};

	if (thread && !strncmp(thread->comm, event.comm.comm, COMM_SIZE - 1))
		return 0;
	return recorder_on_record(r, &event);
}

/* What cannot be read, or is not what the kernel writes, is as if it were not there. */
static int tell_maps(struct recorder *r, const struct perf_event *event)
{
	const struct remote_process process = {unwinder_reader(r->unwinder), (pid_t)event->pid};
	struct thread *thread;
	int error = process_table_thread(r->processes, (int)event->pid, (int)event->tid, &thread);

	if (error)
		return error;
	/* it is the new program that tells */
	thread->process->in_exec = false;
	if (!r->area_files)
		r->area_files = calloc(1, sizeof(*r->area_files));
	error = snapshot_text(&process, r->id, area_reader_text(r->options.area), r->area_files,
			      recorder_on_description, r);
	r->stats.broken += error == -EBADMSG;
	return error == -EBADMSG ? 0 : error;
}

int recorder_on_area(struct recorder *r, const struct perf_event *event, bool *over)
{
	*over = event->type == AREA_RECORD_MAPS || event->type == AREA_RECORD_FREE;
	if (event->type == AREA_RECORD_MAPS)
		return tell_maps(r, event);
	if (*over && r->blocks)
		recorder_free_block(r, event);
	return event->type == PERF_RECORD_SAMPLE ? tell_name(r, event) : 0;
}

static bool may_lead_into_unknown_memory(const struct process *process,
					 const struct bobbin_trace *trace)
{
	struct bobbin_place_info place;
	uint64_t pc;

	if (!trace->count || trace->reason == BOBBIN_REASON_OUTERMOST)
		return false;
	/* what a return address leads to is a caller only if code is known to be there */
	if (trace->reason == BOBBIN_REASON_NO_CALL)
		return true;
	pc = bobbin_frame_lookup_pc(&trace->frames[trace->count - 1]);
	return bobbin_space_find(process->space, pc, &place);
}

int recorder_watch_maps(struct recorder *r, struct process *process,
			const struct bobbin_trace *trace, bool is_held)
{
	struct code_door *door = &process->code.maps;
	uint64_t start = clock_now(), generation = process->space->generation;
	int error;

	if (start < door->due || !(is_held || may_lead_into_unknown_memory(process, trace)))
		return 0;
	error = recorder_describe(r, process->pid, r->area_files);
	if (error == -ENOMEM)
		return error;
	if (process->space->generation == generation) {
		code_door_retry(door, clock_now() - start, clock_now());
		return 0;
	}
	code_door_read(door, clock_now() - start, clock_now());
	return 1;
}

static bool has_ended(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH;
}

/* Its last samples may still come: it is told the next time. */
static void note_end(void *ctx, struct thread *thread)
{
	struct recorder *r = ctx;
	const uint32_t pid = (uint32_t)thread->process->pid, tid = (uint32_t)thread->tid;
	const struct perf_event event = {
		.type = PERF_RECORD_EXIT,
		.pid = pid,
		.tid = tid,
		.cpu = PERF_NO_CPU,
		.id = r->id,
		.task = {pid, tid},
	};

	/* without memory it is kept for longer */
	if (thread->tid > 0 && thread->process->pid > 0 && has_ended((pid_t)pid, (pid_t)tid))
		(void)vector_push(r->area_ends, r->area_end_count, r->area_end_room, event);
}

int recorder_sweep_area(struct recorder *r)
{
	int error = 0;

	if (clock_now() < r->area_due)
		return 0;
	r->area_due = clock_now() + ENDS_NS;
	area_reader_reclaim(r->options.area);
	for (size_t i = 0; i < r->area_end_count && !error; i++) {
		struct perf_event *event = &r->area_ends[i];

		event->time = r->time;
		/* its number may be another's by now */
		if (has_ended((pid_t)event->pid, (pid_t)event->tid))
			error = recorder_on_record(r, event);
	}
	r->area_end_count = 0;
	process_table_visit_threads(r->processes, note_end, r);
	return error;
}
