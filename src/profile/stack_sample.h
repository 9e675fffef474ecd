/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_sample.h - one sample with its stack, whatever it was read from.
 *
 *	perf.data, a live stream ──► struct stack_sample ──► report, script, flame graph, top
 */
#ifndef BOBBIN_PROFILE_STACK_SAMPLE_H
#define BOBBIN_PROFILE_STACK_SAMPLE_H

#include <bobbin/unwind.h>

struct lineage;

/* A sample; everything is valid until the next session_next(). */
struct stack_sample {
	const char *event; /* its name */
	size_t event_number;
	int pid, tid;
	uint32_t cpu;
	uint64_t time, period;
	uint64_t code_time; /* @time by CLOCK_MONOTONIC; UINT64_MAX: it has another clock */
	const char *comm;
	struct bobbin_space *space;
	const struct lineage *lineage;     /* of the process */
	const struct bobbin_frame *frames; /* leaf first, kernel before user */
	size_t count;
	bool weighed;              /* the event has its samples' periods from what happened, such as
				    * how long it took, not from how often it is sampled */
	bool chained;              /* it was recorded with a call chain or a stack */
	bool traced;               /* @reason is known */
	enum bobbin_reason reason; /* why the user part ended */
};

#endif
