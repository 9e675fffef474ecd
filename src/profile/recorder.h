/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder.h - sample, unwind at once, give frames.
 *
 *	sampler ──► process table ──► walker ──► a sink, see stack_sample.h
 *
 * Copies of stacks are used and dropped.
 */
#ifndef BOBBIN_PROFILE_RECORDER_H
#define BOBBIN_PROFILE_RECORDER_H

#include <poll.h>

#include "profile/recorder_options.h"

struct recorder;

/* 0, or a negative errno and at which stage. */
int recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		  struct recorder **ret);

/* To wait on, and for how long at most, in milliseconds. */
struct pollfd *recorder_pollfds(struct recorder *recorder, size_t *count, int *timeout);

/*
 * Take in what was sampled.  0; or a negative errno of the sink or -ENOMEM: then nothing
 * more is sampled, and what there is waits for recorder_finish().
 */
int recorder_sweep(struct recorder *recorder);

/* Take no more samples. */
void recorder_stop(struct recorder *recorder);

/*
 * Take no more samples, and wait until the rules are there that are being inferred, unless a
 * handler sets *@interrupted.  They serve the last samples, and the next recording.
 */
void recorder_settle(struct recorder *recorder, const volatile sig_atomic_t *interrupted);

/*
 * Give the rest, and end the sink; the recorder is gone.  What that returned; stats->cut may say
 * that the last samples are missing.
 */
int recorder_finish(struct recorder *recorder, struct recorder_stats *stats);

/* The recorder, or NULL, is gone, and the sink is told to forget all. */
void recorder_abort(struct recorder *recorder);

const struct recorder_stats *recorder_stats(const struct recorder *recorder);

#endif
