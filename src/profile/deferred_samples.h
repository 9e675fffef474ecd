/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deferred_samples.h - samples that wait for the user part of their call chain.
 *
 *	sample, cookie ──► held ──► the thread's chain with the cookie ──► samples, oldest first
 *
 * A thread can be in the kernel for any time, or never leave it: what waits is bounded.
 */
#ifndef BOBBIN_PROFILE_DEFERRED_SAMPLES_H
#define BOBBIN_PROFILE_DEFERRED_SAMPLES_H

#include <stddef.h>

#include "profile/perf_event.h"

/* Samples that wait at most. */
#define DEFERRED_SAMPLES_MAX 4096

/* A sample; its call chain is the kernel's part, @kernel. */
struct deferred_sample {
	struct deferred_sample *next;
	uint64_t cookie;
	struct perf_event event;
	uint64_t kernel[];
};

/* Zero to begin. */
struct deferred_samples {
	struct deferred_sample *first, **last;
	size_t count;
};

/* Whether the user part of a sample comes later. */
bool perf_sample_is_deferred(const struct perf_sample *sample, uint64_t *cookie);

/* Keep a copy.  0 or -ENOMEM. */
int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie);

/* The oldest one that the chain belongs to, or NULL; the caller frees it. */
struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie);

/* The oldest one, if more than @max wait, else NULL; the caller frees it. */
struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max);

#endif
