/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/wall_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "profile/recorder.h"

/* A hardware's cycles have a frequency only if that was asked for. */
static bool is_steady(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE && attr->config == PERF_COUNT_HW_CPU_CYCLES &&
	       attr->freq && attr->sample_freq;
}

static enum wall_side waiting_side(const char *event)
{
	if (!strcmp(event, RECORDER_WAIT_EVENT))
		return WALL_OFF_CPU;
	return strcmp(event, RECORDER_PREEMPTED_EVENT) ? WALL_NONE : WALL_PREEMPTED;
}

bool wall_clock_is_wait(const char *event)
{
	return waiting_side(event) != WALL_NONE;
}

int wall_clock_init(const struct perf_reader *reader, struct wall_clock *ret)
{
	struct wall_clock clock = {.count = perf_reader_event_count(reader)};
	bool runs = false, waits = false;

	clock.events = calloc(clock.count + 1, sizeof(*clock.events));
	if (!clock.events)
		return -ENOMEM;
	for (size_t i = 0; i < clock.count; i++) {
		const struct perf_reader_attr *event = perf_reader_event(reader, i);

		clock.events[i] = waiting_side(event->name);
		waits |= clock.events[i] == WALL_OFF_CPU;
		/* of two that count the same time, one */
		if (clock.events[i] || runs ||
		    !(perf_attr_is_clock(&event->attr) || is_steady(&event->attr)))
			continue;
		runs = true;
		clock.events[i] = WALL_ON_CPU;
		if (is_steady(&event->attr))
			clock.sample_ns = NS_PER_SECOND / event->attr.sample_freq;
	}
	if (runs && waits) {
		*ret = clock;
		return 0;
	}
	wall_clock_fini(&clock);
	return waits ? -ENODATA : -ENOENT;
}

void wall_clock_fini(struct wall_clock *clock)
{
	free(clock->events);
	clock->events = NULL;
}

enum wall_side wall_clock_side(const struct wall_clock *clock, const struct stack_sample *sample,
			       uint64_t *ret)
{
	enum wall_side side = clock->events[sample->event_number];

	*ret = side == WALL_ON_CPU && clock->sample_ns ? clock->sample_ns : sample->period;
	return side;
}
