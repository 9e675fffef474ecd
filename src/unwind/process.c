/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/process.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "codemap/struct_copy.h"
#include "core/deps.h"
#include "target/thread.h"
#include "unwind/space.h"

#define DEADLINE_MS 1000
#define STOP_MS 1000
/* All threads of a process together may take so many times as long as one. */
#define STOP_ALL_FACTOR 3
/* Each one gets so much in any case. */
#define STOP_LEAST_MS 50

/* A thread that did not stop in time, and may yet. */
struct late_thread {
	struct stopped_thread thread;
	struct late_thread *next;
};

struct bobbin_process {
	pid_t pid;
	struct bobbin_process_options options;
	struct bobbin_unwinder *own_unwinder; /* or NULL */
	struct bobbin_space *space;
	int code_status;
	struct bobbin_process_memory memory;
	struct late_thread *late;
	uint64_t waited_ms; /* for late threads */
};

static int take_options(const struct bobbin_process_options *options, struct bobbin_process *p)
{
	const struct bobbin_unwinder_options own = {.size = sizeof(own),
						    .deadline_ms = DEADLINE_MS};
	int r = 0;

	if (options)
		r = struct_copy(&p->options, sizeof(p->options), options, options->size);
	if (!p->options.stop_ms)
		p->options.stop_ms = STOP_MS;
	if (r || p->options.unwinder)
		return r;
	r = bobbin_unwinder_open(&own, &p->own_unwinder);
	p->options.unwinder = p->own_unwinder;
	return r;
}

BOBBIN_API int bobbin_process_open(int pid, const struct bobbin_process_options *options,
				   struct bobbin_process **ret)
{
	struct bobbin_process *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->pid = pid;
	r = take_options(options, p);
	if (!r)
		r = bobbin_space_open(p->options.unwinder, native_arch(), &p->space);
	if (!r)
		r = bobbin_process_update(p);
	if (r)
		bobbin_process_close(p);
	else
		*ret = p;
	return r;
}

BOBBIN_API unsigned int bobbin_process_late(struct bobbin_process *process)
{
	struct late_thread **at = &process->late, *late;
	unsigned int count = 0;

	while ((late = *at)) {
		if (thread_release_late(&late->thread)) {
			*at = late->next;
			free(late);
		} else {
			at = &late->next;
			count++;
		}
	}
	return count;
}

BOBBIN_API void bobbin_process_close(struct bobbin_process *process)
{
	if (!process)
		return;
	bobbin_process_late(process);
	while (process->late) {
		struct late_thread *next = process->late->next;

		free(process->late);
		process->late = next;
	}
	bobbin_space_close(process->space);
	bobbin_unwinder_close(process->own_unwinder);
	free(process);
}

BOBBIN_API int bobbin_process_update(struct bobbin_process *process)
{
	int r = bobbin_space_load(process->space, process->pid);

	if (r)
		return r == -ENOENT ? -ESRCH : r;
	process->code_status = bobbin_space_update_code(process->options.unwinder, process->space,
							process->pid);
	return 0;
}

BOBBIN_API int bobbin_process_code_status(const struct bobbin_process *process)
{
	return process->code_status;
}

BOBBIN_API struct bobbin_space *bobbin_process_space(struct bobbin_process *process)
{
	return process->space;
}

BOBBIN_API int bobbin_process_threads(const struct bobbin_process *process, int **ret)
{
	return thread_list(process->pid, ret);
}

/* Another process has other things mapped. */
static bool has_thread(const struct bobbin_process *process, pid_t tid)
{
	char name[48];

	snprintf(name, sizeof(name), "/proc/%d/task/%d", process->pid, tid);
	return !access(name, F_OK);
}

static uint32_t time_to_stop(const struct bobbin_process *process)
{
	uint64_t all = (uint64_t)STOP_ALL_FACTOR * process->options.stop_ms, left = 0;

	if (process->waited_ms < all)
		left = all - process->waited_ms;
	if (left > process->options.stop_ms)
		return process->options.stop_ms;
	return left > STOP_LEAST_MS ? (uint32_t)left : STOP_LEAST_MS;
}

/* The end of the calling thread lets those run on that cannot be remembered. */
static void remember_late(struct bobbin_process *process, const struct stopped_thread *thread)
{
	struct late_thread *late = malloc(sizeof(*late));

	if (!late)
		return;
	*late = (struct late_thread){*thread, process->late};
	process->late = late;
}

static void walk(struct bobbin_process *process, const struct bobbin_regs *regs,
		 struct bobbin_trace *trace)
{
	struct bobbin_mem mem = {bobbin_process_memory_read, &process->memory};
	struct bobbin_unwinder *unwinder = process->options.unwinder;

	bobbin_unwinder_process_memory(unwinder, process->pid, &process->memory);
	bobbin_unwind(unwinder, process->space, regs, &mem, trace);
}

/* Without a table a walk may go on by frame pointers, or find the root. */
static bool is_mapped_later(struct bobbin_space *space, const struct bobbin_frame *f)
{
	return (f->source == BOBBIN_SOURCE_FRAME_POINTER || f->source == BOBBIN_SOURCE_PATH ||
		f->source == BOBBIN_SOURCE_GUESS || f->source == BOBBIN_SOURCE_ROOT_SEARCH) &&
	       !space_has(space, bobbin_frame_lookup_pc(f));
}

/*
 * Whether a walk met code that was perhaps mapped or registered after the last update: it
 * ends there, or went through what is not known to be mapped.
 */
static bool met_unknown_code(struct bobbin_space *space, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (is_mapped_later(space, &trace->frames[i]))
			return true;
	return trace->reason == BOBBIN_REASON_NO_MAPPING ||
	       trace->reason == BOBBIN_REASON_NO_TABLE ||
	       trace->reason == BOBBIN_REASON_NO_FUNCTION;
}

static int walk_stopped(struct bobbin_process *process, pid_t tid, struct bobbin_trace *trace)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	int r = thread_registers(tid, gpr, &regs);

	if (r)
		return r;
	walk(process, &regs, trace);
	if (met_unknown_code(process->space, trace) && !bobbin_process_update(process))
		walk(process, &regs, trace);
	return 0;
}

BOBBIN_API int bobbin_process_unwind(struct bobbin_process *process, int tid,
				     struct bobbin_trace *trace)
{
	struct stopped_thread thread;
	uint64_t begin;
	int r;

	bobbin_process_late(process);
	if (!has_thread(process, tid))
		return -ESRCH;
	begin = clock_now();
	r = thread_stop(tid, time_to_stop(process), &thread);
	if (r == -ETIMEDOUT) {
		process->waited_ms += (clock_now() - begin) / 1000000;
		remember_late(process, &thread);
	}
	if (r)
		return r;
	r = walk_stopped(process, tid, trace);
	thread_release(&thread);
	return r;
}
