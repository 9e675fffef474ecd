/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sampled_events.h"

const struct sampler_event sampled_event_usual;

/*
 * perf asks for descriptions of tracepoints beside their samples.  Of probes the kernel was given
 * an address in our memory.
 */
static struct perf_event_attr written_attr(const struct perf_event_attr *attr,
					   const struct sampler_event *event)
{
	struct perf_event_attr written = *attr;

	if (event->by_program)
		written.config = event->config;
	else if (attr->type != PERF_TYPE_TRACEPOINT && attr->type < PERF_TYPE_MAX)
		return written;
	written.type = PERF_TYPE_RAW;
	written.config1 = written.config2 = 0;
	return written;
}

void sampled_events_describe(const struct sampler *sampler, const struct sampler_event *events,
			     size_t count, struct sample_event *ret)
{
	for (size_t i = 0; i < count; i++) {
		ret[i].attr = written_attr(sampler_attr(sampler, i), &events[i]);
		ret[i].name = sampler_event_name(sampler, i);
		ret[i].nr_ids = sampler_ids(sampler, i, &ret[i].ids);
	}
}

bool sampled_events_want(const struct sampler *sampler, struct process_table *processes,
			 const struct perf_event *event, const struct recorder_target *targets,
			 size_t count)
{
	if (!count || !sampler_is_of_all(sampler, event->id))
		return true;
	if (!targets[0].tid)
		return process_table_knows(processes, (int)event->pid, (int)event->tid);
	for (size_t i = 0; i < count; i++)
		if (targets[i].tid == (int)event->tid)
			return true;
	return false;
}
