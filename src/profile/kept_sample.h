/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept_sample.h - copies of samples that wait for what comes after them.
 *
 *	wait_begin() ──► runnable? ──► wait_woken(), by whom ──► wait_end(): how long it was
 *	sample, cookie ──► held ──► the thread's chain with the cookie ──► samples, oldest first
 *
 * A wait is a thread off the CPU, with the stack by which it left.  A deferred sample has the
 * kernel's part of its call chain only, the user's comes later.  As a thread can be in the kernel
 * for any time, or never leave it, the number of these is bounded.
 */
#ifndef BOBBIN_PROFILE_KEPT_SAMPLE_H
#define BOBBIN_PROFILE_KEPT_SAMPLE_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

/* A sample with its trace; its call chain is @kernel. */
struct kept_stack {
	struct perf_event event;
	struct bobbin_trace trace;
	struct bobbin_frame *frames; /* of @trace */
	size_t frame_room;
	uint64_t kernel[PERF_KERNEL_CHAIN_MAX];
};

struct wait {
	bool open;     /* the thread has left and is not back */
	bool runnable; /* it could have gone on: others were given the CPU */
	bool woken;    /* @waker is known */
	struct kept_stack left, waker;
};

/* The thread leaves; *@wait is NULL or from the last time, and copies are made.  0 or -ENOMEM. */
int wait_begin(struct wait **wait, const struct perf_event *event,
	       const struct bobbin_trace *trace);

/* Another one wakes it up, by this sample of its own.  0 or -ENOMEM. */
int wait_woken(struct wait *wait, const struct perf_event *event, const struct bobbin_trace *trace);

/* The thread is back; @wait may be NULL.  false: it is not known to have left. */
bool wait_end(struct wait *wait, uint64_t time, uint64_t *duration);

/* The thread has called execve(): the frames are those of another program. */
void wait_forget_user(struct wait *wait);

/* @wait may be NULL. */
void wait_free(struct wait *wait);

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

/* Keep a copy.  0 or -ENOMEM. */
int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie);

/* The oldest one that the chain belongs to, or NULL; the caller frees it. */
struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie);

/* The oldest one, if more than @max wait, else NULL; the caller frees it. */
struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max);

#endif
