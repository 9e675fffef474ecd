/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/bpf_events.h"

#include <linux/perf_event.h>
#include <string.h>

_Static_assert(SAMPLER_CPUS == KERNEL_CPUS, "of the choice of CPUs");

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/*
 * Tracepoints with __perf_count() count a hit more than once; those with __perf_task() also count it
 * for another thread.  A program cannot do either.
 */
static bool is_plain(const struct sampler_event *event, bool all)
{
	if (begins_with(event->name, "sched:sched_stat_"))
		return false;
	return all || !begins_with(event->name, "sched:sched_wak");
}

void bpf_events_choose(struct sampler_event *events, size_t count, bool all)
{
	for (size_t i = 0; i < count && i < KERNEL_EVENTS; i++) {
		struct sampler_event *event = &events[i];
		bool tracepoint = event->type == PERF_TYPE_TRACEPOINT && event->name;

		if (!event->period || (!event->probe && !(tracepoint && is_plain(event, all))))
			continue;
		event->by_program = event->of_all = true;
	}
}

bool bpf_events_exist(const struct sampler_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].by_program)
			return true;
	return false;
}

size_t bpf_events_first_other(const struct sampler_event *events, size_t count)
{
	size_t i = 0;

	while (i < count && events[i].by_program)
		i++;
	return i;
}

void bpf_events_list(const struct sampler_event *events, size_t count, struct bpf_walk_options *ret)
{
	ret->event_count = count < KERNEL_EVENTS ? (uint32_t)count : KERNEL_EVENTS;
	ret->counted = (uint32_t)bpf_events_first_other(events, count);
	for (uint32_t i = 0; i < ret->event_count; i++) {
		const struct sampler_event *e = &events[i];

		ret->events[i] = (struct walk_event){
			e->type,   e->config,     e->config1, e->config2,
			e->period, e->by_program, e->probe,
		};
	}
}

int bpf_events_attach(const struct sampler_event *events, size_t count,
		      const struct sampler *sampler, struct bpf_walk *walk)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		size_t copies;
		const int *fds;

		if (!events[i].by_program)
			continue;
		copies = sampler_events(sampler, i, &fds);
		r = bpf_walk_attach_hits(walk, (uint32_t)i, fds, sampler_cpus(sampler, i), copies);
	}
	return r;
}
