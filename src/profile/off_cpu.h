/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * off_cpu.h - times at which the sampled threads do not run.
 *
 *	switch_events.h ──► a wait of each thread, see kept_sample.h ──► samples of two events
 *
 * What is not known is not made up: a wait ends where records are missing.
 */
#ifndef BOBBIN_PROFILE_OFF_CPU_H
#define BOBBIN_PROFILE_OFF_CPU_H

#include "profile/process_table.h"
#include "profile/stack_sample.h"
#include "profile/switch_events.h"
#include "profile/wakeups.h"

/* With those of wakers. */
#define OFF_CPU_EVENTS 3
/* What waits are samples of. */
#define OFF_CPU_WAIT_EVENT "offcpu-time"

/**
 * struct wait_stats - what was found
 * @waits, @wait_ns: given out, of threads that waited for something
 * @preempted, @preempted_ns: likewise, of those that waited for a CPU only
 * @short_waits, @short_ns: both, which took too little time
 * @cut: waits that are known in part: records were lost
 * @dropped: waits of which nothing is known, likewise
 * @wakers: of waits that were given out
 */
struct wait_stats {
	uint64_t waits, wait_ns, preempted, preempted_ns, short_waits, short_ns, cut, dropped,
		wakers;
};

/* Takes a wait at its end: the sample to write, but for the user's part.  0 or a negative errno. */
typedef int (*off_cpu_sink)(void *ctx, struct process *process, const struct wait *wait,
			    const struct perf_event *event);

struct off_cpu {
	struct sampler_events events; /* none: waits are not wanted */
	struct wakeups wakeups;       /* none: wakers are not wanted */
	struct process_table *processes;
	const struct cpu_choice *cpus; /* on which they begin, or NULL */
	uint64_t least_ns;             /* of waits that are given out */
	uint64_t blind;                /* records up to this time may be missing */
	uint64_t ids[OFF_CPU_EVENTS];
	struct wait_stats stats;
	off_cpu_sink sink;
	void *ctx;
};

/* The caller sets the structure, but for the events and their ids; errors of switch_events_open(). */
int off_cpu_open(struct off_cpu *off, struct sampler *sampler,
		 const struct sampler_options *options, bool wait);
/* Also who ends waits. */
int off_cpu_open_wakers(struct off_cpu *off, struct sampler *sampler, bool wait);
void off_cpu_close(struct off_cpu *off);

void off_cpu_enable(const struct off_cpu *off);
void off_cpu_disable(const struct off_cpu *off);

/* What the recording says of the events; borrowed from @off.  Their number. */
size_t off_cpu_describe(const struct off_cpu *off, const struct perf_event_attr *sampled,
			struct sample_event ret[OFF_CPU_EVENTS]);

/*
 * The thread that a sample of the tracepoint wakes up, if it waits for long enough, or NULL;
 * @interrupt: the waker is none.  wait_woken() is for the caller to call.
 */
struct thread *off_cpu_woken(const struct off_cpu *off, const struct perf_event *event,
			     bool *interrupt);

/* The sample of who has ended a wait, for that of the wait itself. */
struct perf_event off_cpu_waker(const struct off_cpu *off, const struct wait *wait,
				const struct perf_event *event);

/* What is known of the process that a sample is of; NULL: it has ended. */
struct process *off_cpu_process(const struct off_cpu *off, const struct perf_event *event);

/* A SWITCH record, after wait_begin() of the sample before it.  Errors of the sink. */
int off_cpu_switch(struct off_cpu *off, const struct perf_event *event);

/* Records from @first on, up to the time of @lost, are missing. */
int off_cpu_lost(struct off_cpu *off, uint64_t first, const struct perf_event *lost);

/* Of threads that still wait: as long as they are known to. */
int off_cpu_finish(struct off_cpu *off, uint64_t time);

#endif
