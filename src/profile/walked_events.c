/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/walked_events.h"

#include <linux/perf_event.h>
#include <string.h>

#include "profile/kernel_walk_abi.h"

static bool begins_with(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/*
 * The kernel's __perf_count() and __perf_task(): a hit counts for more than one, or for another
 * thread, whose events have it then, too.
 */
static bool is_plain(const struct sampler_event *event, bool all)
{
	if (begins_with(event->name, "sched:sched_stat_"))
		return false;
	return all || !begins_with(event->name, "sched:sched_wak");
}

void walked_events_choose(struct sampler_event *events, size_t count, bool all)
{
	for (size_t i = 0; i < count && i < KERNEL_EVENTS; i++) {
		struct sampler_event *event = &events[i];
		bool tracepoint = event->type == PERF_TYPE_TRACEPOINT && event->name;

		if (!event->period || (!event->probe && !(tracepoint && is_plain(event, all))))
			continue;
		event->by_program = event->of_all = true;
	}
}

bool walked_events_have(const struct sampler_event *events, size_t count, bool tracepoints)
{
	for (size_t i = 0; i < count; i++)
		if (events[i].by_program && !events[i].probe == tracepoints)
			return true;
	return false;
}

size_t walked_events_first_other(const struct sampler_event *events, size_t count)
{
	size_t i = 0;

	while (i < count && events[i].by_program)
		i++;
	return i;
}
