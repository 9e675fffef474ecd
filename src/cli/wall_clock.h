/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wall_clock.h - samples of several events as parts of the time that passes.
 *
 *	cpu-clock, or cycles by frequency ──► on the CPU    ┐
 *	offcpu-time ──────────────────────► off the CPU     ├ nanoseconds of a thread's life
 *	preempted-time ───────────────────► others have it  ┘
 */
#ifndef BOBBIN_CLI_WALL_CLOCK_H
#define BOBBIN_CLI_WALL_CLOCK_H

#include "profile/perf_reader.h"
#include "profile/stack_sample.h"

enum wall_side {
	WALL_NONE, /* an event that tells nothing of time */
	WALL_ON_CPU,
	WALL_OFF_CPU,
	WALL_PREEMPTED,
};

/**
 * struct wall_clock - which events of a recording tell of time
 * @events: which one, by their numbers; owned
 * @count: of events
 * @sample_ns: what a sample on the CPU stands for; 0: its period
 */
struct wall_clock {
	enum wall_side *events;
	size_t count;
	uint64_t sample_ns;
};

/* 0; -ENOENT: no waits were recorded; -ENODATA: nor how long threads ran; -ENOMEM. */
int wall_clock_init(const struct perf_reader *reader, struct wall_clock *ret);
void wall_clock_fini(struct wall_clock *clock);

/* Nanoseconds that a sample stands for, in *@ret. */
enum wall_side wall_clock_side(const struct wall_clock *clock, const struct stack_sample *sample,
			       uint64_t *ret);

/* Whether the weights of an event's samples are nanoseconds off the CPU. */
bool wall_clock_is_wait(const char *event);

#endif
