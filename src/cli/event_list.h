/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_list.h - what makes samples, by the names that users give.
 *
 *	cycles, cpu-clock, page-faults …	of the kernel's counters; :u or :k at the end
 *	SYSTEM:NAME				a tracepoint
 *	uprobe:FILE:FUNCTION[+OFFSET]		a place in a file, at which programs pass by
 *	uretprobe:FILE:FUNCTION			where the function returns to
 */
#ifndef BOBBIN_CLI_EVENT_LIST_H
#define BOBBIN_CLI_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/sampler.h"

struct event_list {
	struct sampler_event *events;
	size_t count, capacity;
};

/*
 * Add the events of a list, "cycles,sched:sched_switch".  @debug_path: folders with debug files.
 * false after a complaint.
 */
bool event_list_parse(struct event_list *list, const char *option, const char *text,
		      const char *debug_path);

/*
 * How often they make samples, the usual one, too.  @period: of all, or 0; @frequent: a frequency
 * was asked for, also of those that make a sample each time otherwise.  false after a complaint.
 */
bool event_list_complete(struct event_list *list, uint64_t period, bool frequent);

/* Whether there are no tracepoints and no probes. */
bool event_list_is_of_counters(const struct event_list *list);

void event_list_close(struct event_list *list);

#endif
