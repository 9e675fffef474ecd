/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Times at which the sampled threads do not run, as samples of events of their own.
 *
 *	sample		the thread leaves: registers, copy of the stack, the kernel's part
 *	SWITCH, out	whether it could have gone on
 *	wakeup		who ends the wait: a sample of a tracepoint, on all CPUs
 *	SWITCH, in	it is back
 *
 * The records come through the sampler's rings, in the order of time.  What is not known is not
 * made up: a wait ends where records are missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "base/vector.h"
#include "profile/recorder_state.h"

/* Beside an id that the kernel gave. */
#define PREEMPTED_ID (1ull << 63)
/* Of stacks: threads may leave a CPU very often, and wakeups are those of the whole machine. */
#define STACK_BYTES 8192
/* linux/trace_events.h: TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI */
#define INTERRUPT_FLAGS (0x08 | 0x10 | 0x40)
/* Until it is looked whether the number of a foreign process is another one's. */
#define ASK_NS 10000000ull

enum {
	WAITING,
	PREEMPTED,
	WAKER
};

/* events */

/* Each switch, whatever part of the threads' work is sampled beside: they leave in the kernel. */
static struct perf_event_attr each_switch(const struct perf_event_attr *sampled)
{
	struct perf_event_attr attr = *sampled;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.freq = 0;
	attr.sample_period = 1;
	attr.exclude_user = attr.exclude_kernel = attr.exclude_idle = 0;
	return attr;
}

/* Not before recorder_enable_waits() where everybody is recorded. */
static int add(struct recorder *r, const struct sampler_options *options,
	       struct perf_event_attr *attr, struct sampler_events *ret)
{
	if (attr->sample_stack_user > STACK_BYTES)
		attr->sample_stack_user = STACK_BYTES;
	attr->disabled |= r->options.all;
	/* the sampler's events tell of these */
	sampler_attr_tell_nothing(attr);
	return sampler_add(r->sampler, options, attr, ret);
}

int recorder_open_waits(struct recorder *r, const struct sampler_options *options)
{
	struct recorder_waits *w = &r->waits;
	struct perf_event_attr attr = each_switch(&sampler_source(r->sampler, 0)->attr);
	int error;

	attr.context_switch = 1;
	error = add(r, options, &attr, &w->switches);
	if (error)
		return error;
	w->ids[WAITING] = w->switches.ids[0];
	w->ids[PREEMPTED] = w->switches.ids[0] | PREEMPTED_ID;
	return 0;
}

int recorder_open_wakeups(struct recorder *r)
{
	const pid_t everyone = -1;
	const struct sampler_options all = {.tids = &everyone, .tid_count = 1};
	struct recorder_waits *w = &r->waits;
	struct tracepoint_field fields[] = {{.name = "pid"}, {.name = "common_flags"}};
	struct perf_event_attr attr = each_switch(&sampler_source(r->sampler, 0)->attr);
	uint64_t id;
	int error;

	/* the tracepoint has the numbers of threads that the first namespace has */
	if (!pid_namespace_is_initial())
		return -ENXIO;
	error = tracepoint_find(WAKEUPS_TRACEPOINT, fields, 2, &id);
	if (error)
		return error;
	w->woken = fields[0];
	w->flags = fields[1];
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.sample_type |= PERF_SAMPLE_RAW;
	attr.inherit = attr.enable_on_exec = attr.disabled = 0;
	error = add(r, &all, &attr, &w->wakeups);
	if (!error)
		w->ids[WAKER] = w->wakeups.ids[0];
	return error;
}

/* Readers add up periods, whatever the attributes say of them. */
size_t recorder_describe_waits(const struct recorder *r, const struct perf_event_attr *sampled,
			       struct sample_event ret[RECORDER_WAIT_EVENTS])
{
	/* the first name is perf's */
	static const char *const names[] = {RECORDER_WAIT_EVENT, RECORDER_PREEMPTED_EVENT,
					    "offcpu-waker"};
	const struct perf_event_attr attr = each_switch(sampled);
	size_t count = r->waits.wakeups.count ? WAKER + 1 : WAKER;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct sample_event){
			.attr = attr, .name = names[i], .ids = &r->waits.ids[i], .nr_ids = 1};
	return count;
}

void recorder_enable_waits(const struct recorder *r, bool enable)
{
	sampler_events_enable(&r->waits.switches, enable);
	sampler_events_enable(&r->waits.wakeups, enable);
}

/* processes of which the kernel sends no records: who wakes others may be none that is recorded */

static struct foreign_process *find_foreign(struct recorder *r, int pid)
{
	struct foreign_process *at = r->waits.foreign, *end = at + FOREIGN_PROCESSES;

	while (at < end && at->pid != pid)
		at++;
	return at < end ? at : NULL;
}

static struct foreign_process *oldest_foreign(struct recorder *r)
{
	struct foreign_process *found = r->waits.foreign;

	for (size_t i = 1; i < FOREIGN_PROCESSES; i++)
		if (r->waits.foreign[i].described < found->described)
			found = &r->waits.foreign[i];
	return found;
}

/* What it maps and whether it ends is not told: it is described anew from time to time. */
static bool is_due(struct foreign_process *process, uint64_t now)
{
	if (now - process->described >= NS_PER_SECOND)
		return true;
	if (now - process->asked < ASK_NS)
		return false;
	process->asked = now;
	return process_start_time(process->pid) != process->start;
}

struct threads {
	int pid, error;
	int *tids;
	size_t count, room;
};

static void add_thread(void *ctx, struct thread *thread)
{
	struct threads *t = ctx;

	if (!t->error && thread->process->pid == t->pid)
		t->error = vector_push(t->tids, t->count, t->room, thread->tid);
}

static int forget(struct recorder *r, struct foreign_process *process, const struct perf_event *at)
{
	struct threads threads = {.pid = process->pid};
	int error;

	if (!process->pid)
		return 0;
	process->pid = 0;
	process_table_visit_threads(r->processes, add_thread, &threads);
	error = threads.error;
	for (size_t i = 0; i < threads.count && !error; i++) {
		struct perf_event event = {
			.type = PERF_RECORD_EXIT,
			.pid = (uint32_t)threads.pid,
			.tid = (uint32_t)threads.tids[i],
			.cpu = at->cpu,
			.time = at->time,
		};

		error = recorder_on_description(r, &event);
	}
	free(threads.tids);
	return error;
}

/* 1: the process of a sample, @known in the table or not, is to be described; 0; or -errno. */
static int ask_foreign(struct recorder *r, bool known, const struct perf_event *event)
{
	int pid = (int)event->pid, error;
	struct foreign_process *process = pid > 0 ? find_foreign(r, pid) : NULL;
	uint64_t now = clock_now();

	if (pid <= 0 || (known && (!process || !is_due(process, now))))
		return 0;
	if (!process)
		process = oldest_foreign(r);
	error = forget(r, process, event);
	if (error)
		return error;
	*process = (struct foreign_process){pid, process_start_time(pid), now, now};
	return 1;
}

void recorder_drop_foreign(struct recorder *r, int pid)
{
	struct foreign_process *process = pid ? find_foreign(r, pid) : NULL;

	if (process)
		*process = (struct foreign_process){0};
}

/* What is known of the process that a sample is of; NULL: it has ended. */
static struct process *process_of_sample(const struct recorder *r, const struct perf_event *event)
{
	int pid = (int)event->pid;
	struct thread *thread = process_table_alive(r->processes, pid, (int)event->tid);

	/* the thread may have ended without its process */
	if (!thread)
		thread = process_table_alive(r->processes, pid, pid);
	return thread ? thread->process : NULL;
}

/* the end of a wait */

/* @process: NULL if it has ended, and what its user part meant is not known any more. */
static int put_stack(struct recorder *r, struct process *process, const struct kept_stack *stack,
		     const struct perf_event *event)
{
	struct bobbin_trace trace = {.reason = BOBBIN_REASON_NO_USER};

	if (process)
		trace = stack->trace;
	trace.frames = recorder_trace(r).frames;
	memcpy(trace.frames, stack->frames, trace.count * sizeof(*trace.frames));
	return recorder_put_user(r, event, process, &trace);
}

/* With the stack of its beginning; then who has ended it. */
static int put_wait(struct recorder *r, struct thread *thread, uint64_t time, uint32_t cpu,
		    uint64_t duration)
{
	const struct wait *wait = thread->wait;
	struct perf_event event = wait->left.event, waker = wait->waker.event;
	struct wait_stats *stats = &r->stats.waits;
	int error;

	event.id = r->waits.ids[wait->runnable ? PREEMPTED : WAITING];
	event.time = waker.time = time;
	if (cpu != PERF_NO_CPU)
		event.cpu = cpu;
	event.sample.period = waker.sample.period = duration;
	stats->wakers += wait->woken;
	stats->preempted += wait->runnable;
	stats->preempted_ns += wait->runnable ? duration : 0;
	stats->waits += !wait->runnable;
	stats->wait_ns += wait->runnable ? 0 : duration;
	error = put_stack(r, thread->process, &wait->left, &event);
	if (error || !wait->woken)
		return error;
	waker.id = r->waits.ids[WAKER];
	return put_stack(r, process_of_sample(r, &waker), &wait->waker, &waker);
}

/* By where they begin. */
static bool is_chosen(const struct recorder *r, uint32_t cpu)
{
	return !r->options.cpus || (cpu < SAMPLER_CPUS && cpu_choice_has(r->options.cpus, cpu));
}

static int end_wait(struct recorder *r, struct thread *thread, uint64_t time, uint32_t cpu)
{
	uint64_t duration;

	if (!wait_end(thread->wait, time, &duration) || !is_chosen(r, thread->wait->left.event.cpu))
		return 0;
	if (thread->wait->left.event.time < r->waits.blind) {
		r->stats.waits.dropped++;
		return 0;
	}
	if (duration >= r->options.wait_ns)
		return put_wait(r, thread, time, cpu, duration);
	r->stats.waits.short_waits++;
	r->stats.waits.short_ns += duration;
	return 0;
}

struct end_of_all {
	struct recorder *recorder;
	uint64_t time, count;
	int error;
};

static void end_of_thread(void *ctx, struct thread *thread)
{
	struct end_of_all *end = ctx;
	const struct wait *wait = thread->wait;

	/* one that began later ends later */
	if (end->error || !wait || !wait->open || wait->left.event.time > end->time)
		return;
	end->count += wait->left.event.time >= end->recorder->waits.blind;
	end->error = end_wait(end->recorder, thread, end->time, PERF_NO_CPU);
}

int recorder_end_waits(struct recorder *r, uint64_t time, uint64_t *count)
{
	struct end_of_all end = {.recorder = r, .time = time};

	process_table_visit_threads(r->processes, end_of_thread, &end);
	*count = end.count;
	return end.error;
}

/* Threads may have come back and left again meanwhile. */
int recorder_lose_waits(struct recorder *r, const struct perf_event *lost)
{
	uint64_t count;
	int error = recorder_end_waits(r, sampler_time(r->sampler), &count);

	r->stats.waits.cut += count;
	if (lost->time > r->waits.blind)
		r->waits.blind = lost->time;
	return error;
}

/* records */

/* A thread leaves its CPU.  Those of the kernel always wait, if they do not work. */
static int on_leave(struct recorder *r, const struct perf_event *event)
{
	struct bobbin_trace trace = recorder_trace(r);
	struct thread *thread;
	int error;

	thread = process_table_alive(r->processes, (int)event->pid, (int)event->tid);
	if (!thread || !event->sample.regs || !recorder_is_of_user(r, thread->process))
		return 0;
	error = recorder_unwind(r, event, thread->process, &trace);
	return error ? error : wait_begin(&thread->wait, event, &trace);
}

/*
 * Where not all are sampled, it may be none of those that are, and then little is known of it.
 * What has ended stays so.
 */
static int unwind_waker(struct recorder *r, const struct perf_event *event,
			struct bobbin_trace *trace)
{
	struct process *process = process_of_sample(r, event);
	int due = r->options.all ? 0 : ask_foreign(r, process, event);

	if (due < 0 || (due && recorder_describe(r, (int)event->pid, NULL) == -ENOMEM))
		return due < 0 ? due : -ENOMEM;
	if (due)
		process = process_of_sample(r, event);
	return process ? recorder_unwind(r, event, process, trace) : 0;
}

/* The thread that is woken up, if it waits for long enough; @interrupt: the waker is none. */
static struct thread *woken_thread(const struct recorder *r, const struct perf_event *event,
				   bool *interrupt)
{
	const struct perf_sample *sample = &event->sample;
	struct thread *thread;
	int64_t tid, flags;

	if (!sample->raw ||
	    !tracepoint_number(&r->waits.woken, sample->raw, sample->raw_size, &tid) ||
	    !tracepoint_number(&r->waits.flags, sample->raw, sample->raw_size, &flags))
		return NULL;
	*interrupt = flags & INTERRUPT_FLAGS;
	thread = process_table_find(r->processes, (int)tid);
	if (!thread || !thread->wait || !thread->wait->open || thread->wait->runnable)
		return NULL;
	return event->time - thread->wait->left.event.time >= r->options.wait_ns ? thread : NULL;
}

static int on_wakeup(struct recorder *r, const struct perf_event *event)
{
	struct bobbin_trace trace = recorder_trace(r);
	struct perf_event waker = *event;
	struct thread *woken;
	bool interrupt;
	int error = 0;

	woken = woken_thread(r, event, &interrupt);
	if (!woken)
		return 0;
	trace.reason = BOBBIN_REASON_NO_USER;
	if (interrupt)
		waker.pid = waker.tid = 0; /* whoever had the CPU has nothing to do with it */
	else if (event->sample.regs)
		error = unwind_waker(r, event, &trace);
	return error ? error : wait_woken(woken->wait, &waker, &trace);
}

/* After the sample of who leaves. */
static int on_switch(struct recorder *r, const struct perf_event *event)
{
	struct thread *thread = process_table_alive(r->processes, (int)event->pid, (int)event->tid);

	if (!thread || !thread->wait)
		return 0;
	if (!(event->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return end_wait(r, thread, event->time, event->cpu);
	if (event->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		thread->wait->runnable = true;
	return 0;
}

bool recorder_on_wait(struct recorder *r, const struct perf_event *event, int *error)
{
	bool sample = event->type == PERF_RECORD_SAMPLE;

	if (sample && sampler_events_have(&r->waits.switches, event->id))
		*error = on_leave(r, event);
	else if (sample && sampler_events_have(&r->waits.wakeups, event->id))
		*error = on_wakeup(r, event);
	else if (event->type == PERF_RECORD_SWITCH || event->type == PERF_RECORD_SWITCH_CPU_WIDE)
		*error = on_switch(r, event);
	else
		return false;
	return true;
}
