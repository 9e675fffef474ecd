/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.h - perf_event_open(2) for a process and all that it starts, or for all.
 *
 *	one event for each thread and CPU ──► one ring for each CPU
 *		──► records in the order of time
 *	timers of the processes themselves ──► an area, see area_reader.h ──► the same
 *
 * A sample carries the user registers, a copy of the top of the user stack and
 * the kernel's call chain; the other records say what is mapped and who lives.
 * Records of different CPUs are merged by their time: a record is given out
 * once no CPU can come up with an older one.
 */
#ifndef BOBBIN_PROFILE_SAMPLER_H
#define BOBBIN_PROFILE_SAMPLER_H

#include <poll.h>
#include <sys/types.h>

#include "profile/area_reader.h"
#include "profile/perf_event.h"

/* Of each CPU, where the user may lock as much: a quarter of a second of the largest samples. */
#define SAMPLER_RING_BYTES ((size_t)16 << 20)

/* Linux's own limit of NR_CPUS on x86-64. */
#define SAMPLER_CPUS 8192

struct sampler;

/* Numbers of CPUs. */
struct cpu_choice {
	bool some; /* else all of them */
	uint64_t bits[SAMPLER_CPUS / 64];
};

static inline bool cpu_choice_has(const struct cpu_choice *choice, unsigned int cpu)
{
	return !choice->some || (choice->bits[cpu / 64] >> cpu % 64 & 1);
}

/**
 * struct sampler_event - what is counted, and how much of it makes a sample
 * @name: as recordings have it; NULL: hardware cycles, or the CPU clock where there are none
 * @type, @config, @config1, @config2: as in perf_event_attr
 * @period: that much; 0: as much as it takes for the frequency
 * @exclude_user, @exclude_kernel: only of the other's
 * @probe: a place in a file: @config1 is a pointer to its path, @config2 the offset
 * @of_all: it cannot be of threads, so it is of all of them; who reads the samples drops the others
 * @by_program: its samples are made when a BPF program asks for them
 */
struct sampler_event {
	const char *name;
	uint32_t type;
	uint64_t config, config1, config2, period;
	bool exclude_user, exclude_kernel, probe, of_all, by_program;
};

struct sampler_options {
	struct area_reader *area; /* samples come from there, not from the kernel; or NULL */
	const struct sampler_event *events; /* as long as the sampler is open */
	size_t event_count;                 /* 1 at least */
	const pid_t *tids; /* threads to sample, and what they start; -1 alone: all of them */
	size_t tid_count;
	const int *cgroups; /* instead: all that runs in these, by descriptors of their folders */
	size_t cgroup_count;
	const struct cpu_choice *cpus; /* where samples are taken; NULL: everywhere */
	uint32_t frequency;            /* samples a second and CPU */
	size_t ring_bytes;             /* of each CPU, a power of two; 0: SAMPLER_RING_BYTES */
	uint32_t stack_bytes; /* of stack copied with a sample: a multiple of 8, <= 65,528.  Less
			       * is copied where the user may lock little memory */
	uint64_t regs_mask;   /* as in perf_event_attr.sample_regs_user */
	bool enable_on_exec;  /* begin when the process calls exec, else at once */
	bool no_inherit;      /* not what the threads start */
	bool defer;           /* no copies: the kernel walks stacks on the way to user mode */
	bool wait;            /* of everybody: no samples before sampler_enable() */
	bool raw;             /* samples have what a program has given with them */
};

/*
 * Open the events, with the kernel's part where that is allowed; those of an area need nothing of
 * the options but that, one event and the frequency.  A negative errno of
 * perf_event_open(2) or mmap(2); -EACCES and -EPERM: not allowed, see
 * kernel.perf_event_paranoid; -ENODEV: none of the CPUs runs.
 */
int sampler_open(const struct sampler_options *options, struct sampler **ret);
void sampler_close(struct sampler *sampler);

/**
 * struct sampler_source - an event as it was opened, for all of its threads and CPUs
 * @name: its usual one: "cpu-clock"
 * @fds, @cpus, @ids: of each descriptor the CPU and the id, @count of them
 */
struct sampler_source {
	const struct sampler_event *event;
	struct perf_event_attr attr;
	char *name;
	int *fds, *cpus;
	uint64_t *ids;
	size_t count;
};

/* What was opened as the @i-th event. */
const struct sampler_source *sampler_source(const struct sampler *sampler, size_t i);

/* Whether a sample's id is that of an event which is of all threads whatever was asked for. */
bool sampler_is_of_all(const struct sampler *sampler, uint64_t id);

/* The attributes of an event of the options, and of one that only tells what that one would. */
struct perf_event_attr sampler_attr_of(const struct sampler_options *options,
				       const struct sampler_event *event);
struct perf_event_attr sampler_attr_of_teller(const struct perf_event_attr *attr,
					      const struct sampler_options *options);

/* What is the next best where these could not be opened; false: there is none. */
bool sampler_attr_relax(struct perf_event_attr *attr, const struct sampler_event *event, int error);

/* Of an event beside one that tells what is mapped and who lives. */
void sampler_attr_tell_nothing(struct perf_event_attr *attr);

/* Of switches and wakeups, and of what is probed. */
#define SAMPLER_ADDED 66

/* Events that were added; @ids ascend, as the kernel counts its events. */
struct sampler_events {
	int *fds;
	uint64_t *ids;
	size_t count;
};

/*
 * One more event for each thread or cgroup of the options, on each CPU; SAMPLER_ADDED times at
 * most. Its records begin and end as those of the first event, and come with the others.  A
 * negative errno of perf_event_open(2).
 */
int sampler_add(struct sampler *sampler, const struct sampler_options *options,
		const struct perf_event_attr *attr, struct sampler_events *ret);

/* After the last sampler_next(). */
void sampler_events_close(struct sampler_events *events);

/* Whether a record is of these events. */
bool sampler_events_have(const struct sampler_events *events, uint64_t id);

void sampler_events_enable(const struct sampler_events *events, bool enable);

/*
 * Begin, after all that @wait is for: the records that are no samples come before it, too.  Or
 * stop: what is in the rings can still be read.
 */
void sampler_enable(const struct sampler *sampler, bool enable);

/*
 * Sample what is sampled by frequency that often from now on; where it was opened by another count
 * or time, nothing changes.  0 or a negative errno; then some events may have changed.
 */
int sampler_set_frequency(const struct sampler *sampler, uint32_t frequency);

/*
 * One for each ring, readable when there is much to read, and one for @other, or -1; the
 * sampler's own.
 */
struct pollfd *sampler_pollfds(struct sampler *sampler, int other, size_t *count);

/* Look at the rings once more.  @final: give out everything that is there. */
void sampler_sweep(struct sampler *sampler, bool final);

/* Records up to this time, of CLOCK_MONOTONIC, are given out until the next look. */
uint64_t sampler_horizon(const struct sampler *sampler);

/*
 * The next record that is not later than @until, valid until the next call.  1; 0: there is none,
 * or wait and sweep again; -EBADMSG: a record that makes no sense was skipped.
 */
int sampler_next(struct sampler *sampler, uint64_t until, struct perf_event *ret);

/*
 * When the record of sampler_next() came.  That of a LOST record is the first time of which records
 * may be missing, and so it is given out; the event has that of the last one.
 */
uint64_t sampler_time(const struct sampler *sampler);

#endif
