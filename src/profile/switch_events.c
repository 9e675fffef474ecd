/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/switch_events.h"

/* Threads may leave a CPU very often. */
#define STACK_BYTES 8192

static struct perf_event_attr attr_of(const struct perf_event_attr *sampled, bool wait)
{
	struct perf_event_attr attr = *sampled;

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr.freq = 0;
	attr.sample_period = 1;
	if (attr.sample_stack_user > STACK_BYTES)
		attr.sample_stack_user = STACK_BYTES;
	/* a thread leaves in the kernel, whatever part is sampled beside */
	attr.exclude_user = attr.exclude_kernel = attr.exclude_idle = 0;
	attr.context_switch = 1;
	attr.disabled |= wait;
	/* the sampler's events tell of these */
	sampler_attr_tell_nothing(&attr);
	return attr;
}

int switch_events_open(struct sampler *sampler, const struct sampler_options *options, bool wait,
		       struct sampler_events *ret)
{
	struct perf_event_attr attr = attr_of(sampler_attr(sampler, 0), wait);

	return sampler_add(sampler, options, &attr, ret);
}
