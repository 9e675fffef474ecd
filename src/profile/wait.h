/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wait.h - a thread that is off the CPU, with the stack by which it left.
 *
 *	wait_begin() ──► runnable? ──► wait_woken(), by whom ──► wait_end(): how long it was
 */
#ifndef BOBBIN_PROFILE_WAIT_H
#define BOBBIN_PROFILE_WAIT_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

/* Of the kernel's part of a stack: frames and marks. */
#define WAIT_KERNEL_MAX 256

/* A sample with its trace; its call chain is @kernel. */
struct kept_stack {
	struct perf_event event;
	struct bobbin_trace trace;
	struct bobbin_frame *frames; /* of @trace */
	size_t frame_room;
	uint64_t kernel[WAIT_KERNEL_MAX];
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

#endif
