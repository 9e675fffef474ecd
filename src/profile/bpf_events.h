/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_events.h - which tracepoints and probes are sampled by programs in the kernel.
 */
#ifndef BOBBIN_PROFILE_BPF_EVENTS_H
#define BOBBIN_PROFILE_BPF_EVENTS_H

#include "bpfwalk/bpf_walk.h"
#include "profile/sampler.h"

/*
 * Have those be sampled by programs that these can sample as perf does: each hit, or one of so many,
 * is of the thread that runs.  @all: of all threads, not of some.
 */
void bpf_events_choose(struct sampler_event *events, size_t count, bool all);

/* Whether there are such events. */
bool bpf_events_exist(const struct sampler_event *events, size_t count);

/* The first event that is another; @count: there is none. */
size_t bpf_events_first_other(const struct sampler_event *events, size_t count);

/* Tell the walker of the events. */
void bpf_events_list(const struct sampler_event *events, size_t count,
		     struct bpf_walk_options *ret);

/* Attach its programs; what they cannot walk goes to the sampler's events.  0 or a negative errno. */
int bpf_events_attach(const struct sampler_event *events, size_t count,
		      const struct sampler *sampler, struct bpf_walk *walk);

#endif
