/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/wakeups.h"

#include <errno.h>

#include "base/pid_namespace.h"

/* Of stacks, which are copied at each wakeup on the machine. */
#define STACK_BYTES 8192

/* linux/trace_events.h: TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI */
#define INTERRUPT_FLAGS (0x08 | 0x10 | 0x40)

static struct perf_event_attr attr_of(const struct perf_event_attr *sampled, uint64_t id, bool wait)
{
	struct perf_event_attr attr = *sampled;

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.freq = 0;
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_RAW;
	if (attr.sample_stack_user > STACK_BYTES)
		attr.sample_stack_user = STACK_BYTES;
	attr.exclude_user = attr.exclude_kernel = attr.exclude_idle = 0;
	attr.inherit = 0;
	attr.enable_on_exec = 0;
	attr.disabled = wait;
	/* the sampler's events tell of these */
	sampler_attr_tell_nothing(&attr);
	return attr;
}

int wakeups_open(struct sampler *sampler, bool wait, struct wakeups *ret)
{
	const pid_t everyone = -1;
	const struct sampler_options all = {.tids = &everyone, .tid_count = 1};
	struct tracepoint_field fields[] = {{.name = "pid"}, {.name = "common_flags"}};
	struct perf_event_attr attr;
	uint64_t id;
	int r;

	/* the tracepoint has the numbers of threads that the first namespace has */
	if (!pid_namespace_is_initial())
		return -ENXIO;
	r = tracepoint_find(WAKEUPS_TRACEPOINT, fields, 2, &id);
	if (r)
		return r;
	ret->tid = fields[0];
	ret->flags = fields[1];
	attr = attr_of(sampler_attr(sampler, 0), id, wait);
	return sampler_add(sampler, &all, &attr, &ret->events);
}

bool wakeups_read(const struct wakeups *wakeups, const struct perf_sample *sample, int *tid,
		  bool *interrupt)
{
	int64_t woken, flags;

	if (!sample->raw ||
	    !tracepoint_number(&wakeups->tid, sample->raw, sample->raw_size, &woken) ||
	    !tracepoint_number(&wakeups->flags, sample->raw, sample->raw_size, &flags))
		return false;
	*tid = (int)woken;
	*interrupt = flags & INTERRUPT_FLAGS;
	return true;
}
