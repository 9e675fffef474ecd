/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/off_cpu.h"

/* Beside an id that the kernel gave. */
#define PREEMPTED_ID (1ull << 63)

enum {
	WAITING,
	PREEMPTED,
	WAKER
};

int off_cpu_open(struct off_cpu *off, struct sampler *sampler,
		 const struct sampler_options *options, bool wait)
{
	int r = switch_events_open(sampler, options, wait, &off->events);

	if (r)
		return r;
	off->ids[WAITING] = off->events.ids[0];
	off->ids[PREEMPTED] = off->events.ids[0] | PREEMPTED_ID;
	return 0;
}

int off_cpu_open_wakers(struct off_cpu *off, struct sampler *sampler, bool wait)
{
	int r = wakeups_open(sampler, wait, &off->wakeups);

	if (!r)
		off->ids[WAKER] = off->wakeups.events.ids[0];
	return r;
}

void off_cpu_enable(const struct off_cpu *off)
{
	sampler_events_enable(&off->events);
	sampler_events_enable(&off->wakeups.events);
}

void off_cpu_disable(const struct off_cpu *off)
{
	sampler_events_disable(&off->events);
	sampler_events_disable(&off->wakeups.events);
}

void off_cpu_close(struct off_cpu *off)
{
	sampler_events_close(&off->wakeups.events);
	sampler_events_close(&off->events);
}

/* Readers add up periods, whatever the attributes say of them. */
static struct perf_event_attr attr_of(const struct perf_event_attr *sampled)
{
	struct perf_event_attr attr = *sampled;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.freq = 0;
	attr.sample_period = 1;
	attr.exclude_user = attr.exclude_kernel = attr.exclude_idle = 0;
	return attr;
}

size_t off_cpu_describe(const struct off_cpu *off, const struct perf_event_attr *sampled,
			struct sample_event ret[OFF_CPU_EVENTS])
{
	/* the first name is perf's */
	static const char *const names[] = {OFF_CPU_WAIT_EVENT, "preempted-time", "offcpu-waker"};
	size_t count = off->wakeups.events.count ? WAKER + 1 : WAKER;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct sample_event){.attr = attr_of(sampled),
					       .name = names[i],
					       .ids = &off->ids[i],
					       .nr_ids = 1};
	return count;
}

static int give(struct off_cpu *off, struct thread *thread, uint64_t time, uint32_t cpu,
		uint64_t duration)
{
	const struct wait *wait = thread->wait;
	struct perf_event event = wait->left.event;

	event.id = off->ids[wait->runnable ? PREEMPTED : WAITING];
	event.time = time;
	if (cpu != PERF_NO_CPU)
		event.cpu = cpu;
	event.sample.period = duration;
	off->stats.wakers += wait->woken;
	if (wait->runnable) {
		off->stats.preempted++;
		off->stats.preempted_ns += duration;
	} else {
		off->stats.waits++;
		off->stats.wait_ns += duration;
	}
	return off->sink(off->ctx, thread->process, wait, &event);
}

static bool is_wanted(const struct off_cpu *off, const struct perf_event *left)
{
	return !off->cpus || (left->cpu < SAMPLER_CPUS && cpu_choice_has(off->cpus, left->cpu));
}

static int end_wait(struct off_cpu *off, struct thread *thread, uint64_t time, uint32_t cpu)
{
	uint64_t duration;

	if (!wait_end(thread->wait, time, &duration) || !is_wanted(off, &thread->wait->left.event))
		return 0;
	if (thread->wait->left.event.time < off->blind) {
		off->stats.dropped++;
		return 0;
	}
	if (duration >= off->least_ns)
		return give(off, thread, time, cpu, duration);
	off->stats.short_waits++;
	off->stats.short_ns += duration;
	return 0;
}

int off_cpu_switch(struct off_cpu *off, const struct perf_event *event)
{
	struct thread *thread = process_table_alive(off->processes, (int)event->pid,
						    (int)event->tid);

	if (!thread || !thread->wait)
		return 0;
	if (!(event->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return end_wait(off, thread, event->time, event->cpu);
	if (event->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		thread->wait->runnable = true;
	return 0;
}

struct thread *off_cpu_woken(const struct off_cpu *off, const struct perf_event *event,
			     bool *interrupt)
{
	struct thread *thread;
	int tid;

	if (!wakeups_read(&off->wakeups, &event->sample, &tid, interrupt))
		return NULL;
	thread = process_table_find(off->processes, tid);
	if (!thread || !thread->wait || !thread->wait->open || thread->wait->runnable)
		return NULL;
	return event->time - thread->wait->left.event.time >= off->least_ns ? thread : NULL;
}

struct perf_event off_cpu_waker(const struct off_cpu *off, const struct wait *wait,
				const struct perf_event *event)
{
	struct perf_event waker = wait->waker.event;

	waker.id = off->ids[WAKER];
	waker.time = event->time;
	waker.sample.period = event->sample.period;
	return waker;
}

struct process *off_cpu_process(const struct off_cpu *off, const struct perf_event *event)
{
	int pid = (int)event->pid;
	struct thread *thread = process_table_alive(off->processes, pid, (int)event->tid);

	/* the thread may have ended without its process */
	if (!thread)
		thread = process_table_alive(off->processes, pid, pid);
	return thread ? thread->process : NULL;
}

struct end_of_all {
	struct off_cpu *off;
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
	end->count += wait->left.event.time >= end->off->blind;
	end->error = end_wait(end->off, thread, end->time, PERF_NO_CPU);
}

/* Of all threads that wait. */
static int end_all(struct off_cpu *off, uint64_t time, uint64_t *count)
{
	struct end_of_all end = {.off = off, .time = time};

	process_table_visit_threads(off->processes, end_of_thread, &end);
	*count = end.count;
	return end.error;
}

/* Threads may have come back and left again meanwhile. */
int off_cpu_lost(struct off_cpu *off, uint64_t first, const struct perf_event *lost)
{
	uint64_t count;
	int r = end_all(off, first, &count);

	off->stats.cut += count;
	if (lost->time > off->blind)
		off->blind = lost->time;
	return r;
}

int off_cpu_finish(struct off_cpu *off, uint64_t time)
{
	uint64_t count;

	return end_all(off, time, &count);
}
