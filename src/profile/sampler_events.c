/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that were added to a sampler's. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profile/sampler.h"

void sampler_events_close(struct sampler_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->fds[i]);
	free(events->fds);
	free(events->ids);
	*events = (struct sampler_events){0};
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool sampler_events_have(const struct sampler_events *events, uint64_t id)
{
	return events->count &&
	       bsearch(&id, events->ids, events->count, sizeof(id), compare_ids) != NULL;
}

static void control_events(const struct sampler_events *events, unsigned long request)
{
	for (size_t i = 0; i < events->count; i++)
		ioctl(events->fds[i], request, 0);
}

void sampler_events_enable(const struct sampler_events *events)
{
	control_events(events, PERF_EVENT_IOC_ENABLE);
}

void sampler_events_disable(const struct sampler_events *events)
{
	control_events(events, PERF_EVENT_IOC_DISABLE);
}
