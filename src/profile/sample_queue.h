/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_queue.h - a sink that hands on to another sink, in another thread.
 *
 *	source ──► sample_queue_sink ──┆──► sample_queue_run() ──► sink
 *
 * Who takes is woken at the end of a round.  Who gives waits while much is not taken yet.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_QUEUE_H
#define BOBBIN_PROFILE_SAMPLE_QUEUE_H

#include "profile/stack_sample.h"

/* What may wait to be taken, and one sample or record more. */
#define SAMPLE_QUEUE_BYTES (128 << 10)

struct sample_queue;

/* The context is a struct sample_queue.  -EPIPE: nobody takes any more. */
extern const struct sample_sink sample_queue_sink;

/* 0 or -ENOMEM. */
int sample_queue_open(struct sample_queue **ret);
void sample_queue_close(struct sample_queue *queue); /* NULL is fine */

/*
 * Hand samples, records and rounds on until the source ends.  Processes belong to the other
 * thread: a sample has no @comm, @cgroup and @process, which records tell.  0 or the first error of
 * @sink, which ends it sooner.
 */
int sample_queue_run(struct sample_queue *queue, const struct sample_sink *sink, void *ctx);

/* As the end of the source, which may never have begun. */
void sample_queue_end(struct sample_queue *queue);

/* Whether who gives may have to wait soon. */
bool sample_queue_fills_up(struct sample_queue *queue);

#endif
