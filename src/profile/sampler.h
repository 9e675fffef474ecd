/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.h - perf_event_open(2) for a process and all that it starts, or for all.
 *
 *	one event for each thread and CPU ──► one ring for each CPU
 *		──► records in the order of time
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

#include "profile/perf_event.h"

/* Of each CPU, where the user may lock as much: a quarter of a second of the largest samples. */
#define SAMPLER_RING_BYTES ((size_t)16 << 20)

struct sampler;

struct sampler_options {
	const pid_t *tids; /* threads to sample, and what they start; -1 alone: all of them */
	size_t tid_count;
	uint32_t frequency;   /* samples a second and CPU */
	uint32_t stack_bytes; /* of stack copied with a sample: a multiple of 8, <= 65,528.  Less
			       * is copied where the user may lock little memory */
	uint64_t regs_mask;   /* as in perf_event_attr.sample_regs_user */
	bool enable_on_exec;  /* begin when the process calls exec, else at once */
	bool no_inherit;      /* not what the threads start */
	bool outputs;         /* with an event for each CPU that BPF programs give out to */
	bool wait;            /* with @outputs, of everybody: no samples before sampler_enable() */
};

/*
 * Open the events: hardware cycles, or the CPU clock where there are none; with
 * the kernel's part where that is allowed.  A negative errno of
 * perf_event_open(2) or mmap(2); -EACCES and -EPERM: not allowed, see
 * kernel.perf_event_paranoid.
 */
int sampler_open(const struct sampler_options *options, struct sampler **ret);
void sampler_close(struct sampler *sampler);

/* What was opened: its attributes, its usual name ("cpu-clock"), the ids. */
const struct perf_event_attr *sampler_attr(const struct sampler *sampler);
const char *sampler_event_name(const struct sampler *sampler);
size_t sampler_ids(const struct sampler *sampler, const uint64_t **ret);

/* The descriptors of the events. */
size_t sampler_events(const struct sampler *sampler, const int **ret);

/* The @i-th event for programs and its CPU; false: there are fewer. */
bool sampler_output(const struct sampler *sampler, size_t i, int *fd, int *cpu);

/* Whether a sample's id is that of such an event: then its bytes are the program's. */
bool sampler_is_output(const struct sampler *sampler, uint64_t id);

/* After all that @wait is for; the records that are no samples come before it, too. */
void sampler_enable(struct sampler *sampler);

/* Stop sampling; what is in the rings can still be read. */
void sampler_disable(struct sampler *sampler);

/* One for each ring, readable when there is much to read; the sampler's own. */
struct pollfd *sampler_pollfds(struct sampler *sampler, size_t *count);

/* Look at the rings once more.  @final: give out everything that is there. */
void sampler_sweep(struct sampler *sampler, bool final);

/*
 * The next record, valid until the next call.  1; 0: wait and sweep again;
 * -EBADMSG: a record that makes no sense was skipped.
 */
int sampler_next(struct sampler *sampler, struct perf_event *ret);

#endif
