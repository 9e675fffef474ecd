/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampled_events.h - the events of a recording, and whose samples are part of it.
 */
#ifndef BOBBIN_PROFILE_SAMPLED_EVENTS_H
#define BOBBIN_PROFILE_SAMPLED_EVENTS_H

#include "profile/process_table.h"
#include "profile/sampler.h"
#include "profile/stack_sample.h"

/* A process, with all its threads and what they start; or one thread alone. */
struct recorder_target {
	pid_t pid;
	pid_t tid; /* 0: the whole process */
};

/* The usual one, where none is asked for. */
extern const struct sampler_event sampled_event_usual;

/* What the recording says of the sampler's @count events; borrowed from it. */
void sampled_events_describe(const struct sampler *sampler, const struct sampler_event *events,
			     size_t count, struct sample_event *ret);

/*
 * Whether a sample is of a target, or of what it has started: events that are of all threads have
 * others, too.  @count 0: whatever runs.
 */
bool sampled_events_want(const struct sampler *sampler, struct process_table *processes,
			 const struct perf_event *event, const struct recorder_target *targets,
			 size_t count);

#endif
