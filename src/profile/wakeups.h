/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wakeups.h - who wakes whom: samples of the tracepoint sched:sched_waking, on all CPUs.
 */
#ifndef BOBBIN_PROFILE_WAKEUPS_H
#define BOBBIN_PROFILE_WAKEUPS_H

#include "profile/sampler.h"
#include "profile/tracepoint.h"

#define WAKEUPS_TRACEPOINT "sched:sched_waking"

struct wakeups {
	struct sampler_events events;
	struct tracepoint_field tid, flags;
};

/*
 * With @wait not before sampler_events_enable().  Errors of tracepoint_find(), sampler_add(); -ENXIO:
 * inside a process-ID namespace.
 */
int wakeups_open(struct sampler *sampler, bool wait, struct wakeups *ret);

/* Who is woken; @interrupt: not by the thread that the sample is of.  false: it makes no sense. */
bool wakeups_read(const struct wakeups *wakeups, const struct perf_sample *sample, int *tid,
		  bool *interrupt);

#endif
