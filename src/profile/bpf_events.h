/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_events.h - tracepoints and probes that are sampled by programs in the kernel.
 */
#ifndef BOBBIN_PROFILE_BPF_EVENTS_H
#define BOBBIN_PROFILE_BPF_EVENTS_H

#include "bpfwalk/bpf_walk.h"
#include "profile/sampler.h"

/*
 * Mark the events that a program can sample as perf does: a sample is each hit, or each n-th one, of
 * the running thread.  @all: all threads are sampled.
 */
void bpf_events_choose(struct sampler_event *events, size_t count, bool all);

/* Whether there are such events. */
bool bpf_events_exist(const struct sampler_event *events, size_t count);

/* The first event that is not marked; @count: there is none. */
size_t bpf_events_first_other(const struct sampler_event *events, size_t count);

/* Describe the events to the walker. */
void bpf_events_list(const struct sampler_event *events, size_t count,
		     struct bpf_walk_options *ret);

/* Attach its programs; what they cannot walk goes to the sampler's events.  0 or a negative errno. */
int bpf_events_attach(const struct sampler_event *events, size_t count,
		      const struct sampler *sampler, struct bpf_walk *walk);

#endif
