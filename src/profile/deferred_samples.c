/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/deferred_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_format.h"

bool perf_sample_is_deferred(const struct perf_sample *sample, uint64_t *cookie)
{
	for (uint64_t i = 0; i + 1 < sample->callchain_nr; i++) {
		if (sample->callchain[i] != PERF_FILE_CONTEXT_USER_DEFERRED)
			continue;
		*cookie = sample->callchain[i + 1];
		return true;
	}
	return false;
}

int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie)
{
	size_t count = perf_sample_kernel_count(&event->sample);
	struct deferred_sample *s = malloc(sizeof(*s) + count * sizeof(*s->kernel));

	if (!s)
		return -ENOMEM;
	*s = (struct deferred_sample){.cookie = cookie, .event = *event};
	if (count)
		memcpy(s->kernel, event->sample.callchain, count * sizeof(*s->kernel));
	s->event.sample = (struct perf_sample){
		.ip = event->sample.ip,
		.period = event->sample.period,
		.callchain = s->kernel,
		.callchain_nr = count,
	};
	if (!samples->first)
		samples->last = &samples->first;
	*samples->last = s;
	samples->last = &s->next;
	samples->count++;
	return 0;
}

static struct deferred_sample *unlink_at(struct deferred_samples *samples,
					 struct deferred_sample **at)
{
	struct deferred_sample *s = *at;

	*at = s->next;
	if (!s->next)
		samples->last = at;
	samples->count--;
	return s;
}

struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie)
{
	for (struct deferred_sample **at = &samples->first; *at; at = &(*at)->next)
		if ((*at)->cookie == cookie && (*at)->event.tid == tid)
			return unlink_at(samples, at);
	return NULL;
}

struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max)
{
	return samples->count > max ? unlink_at(samples, &samples->first) : NULL;
}
