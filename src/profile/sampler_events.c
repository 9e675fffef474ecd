/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that were added to a sampler's. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/vector.h"
#include "profile/sampler.h"

void sampler_events_close(struct sampler_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->fds[i]);
	free(events->fds);
	free(events->ids);
	*events = (struct sampler_events){0};
}

bool sampler_events_have(const struct sampler_events *events, uint64_t id)
{
	return events->count &&
	       bsearch(&id, events->ids, events->count, sizeof(id), vector_by_start) != NULL;
}

void sampler_events_enable(const struct sampler_events *events, bool enable)
{
	for (size_t i = 0; i < events->count; i++)
		ioctl(events->fds[i], enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}
