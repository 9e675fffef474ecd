/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inference_queue.h - a thread that analyses the code of files, the most wanted first, while walks
 * go on without.
 *
 * One thread asks, walks and closes; another one does the work, one file after the other.  If the
 * recorded program uses all CPUs, the work gets a part of one.
 */
#ifndef BOBBIN_UNWIND_INFERENCE_QUEUE_H
#define BOBBIN_UNWIND_INFERENCE_QUEUE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "table/infer_ops.h"

/* Bytes of code that are analysed at most: in all; and of them, after the last walk. */
#define INFERENCE_QUEUE_BYTES ((uint64_t)256 << 20)
#define INFERENCE_QUEUE_BYTES_LATE ((uint64_t)32 << 20)

/* Walks wait no longer than this per second for analyses: the rings of samples must not overflow. */
#define INFERENCE_QUEUE_WAIT_NS 40000000ull

/* A file whose rules are wanted; part of what the work is for.  Starts as all zero. */
struct infer_request {
	_Atomic uint64_t hits; /* walks that would have used them */
	_Atomic bool done;
	bool begun; /* the queue's */
};

/* Called by the thread.  What it has written is seen by who sees @request->done. */
typedef void infer_work(struct infer_request *request, struct infer_budget *budget);

struct inference_queue;

/* @cache_path: or NULL.  0, -ENOMEM. */
int inference_queue_open(const char *cache_path, infer_work *work, struct inference_queue **ret);

/* What is being done ends soon, what was not begun is never done.  NULL is fine. */
void inference_queue_close(struct inference_queue *queue);

/*
 * Before anything is asked for: the thread takes no more than @share of a processor, above 0 and up to 1,
 * but for the last file; until inference_queue_finish().
 */
void inference_queue_share(struct inference_queue *queue, double share);

/* Want a request done, which lives as long as the queue.  0; -ENOMEM; the errno of a thread. */
int inference_queue_ask(struct inference_queue *queue, struct infer_request *request);

/*
 * Count one more walk that would use it.  The first one waits a little, unless the waits of the
 * last second have used up INFERENCE_QUEUE_WAIT_NS.  Returns whether it is done.
 */
bool inference_queue_await(struct inference_queue *queue, struct infer_request *request);

/* Walks that would have used what is not done yet, for who asks; and requests that are done. */
uint64_t inference_queue_missed(const struct inference_queue *queue);
uint64_t inference_queue_done(struct inference_queue *queue);

/*
 * Wait until one more request is done.  false: none is being done, or clock_now() has reached
 * @until.
 */
bool inference_queue_next(struct inference_queue *queue, uint64_t until);

/*
 * Nothing is recorded any more: wait until what was asked is done, as far as
 * INFERENCE_QUEUE_BYTES_LATE reach, or a signal handler has set *@interrupted, which may be NULL.
 * Whether something was to be done.
 */
bool inference_queue_finish(struct inference_queue *queue,
			    const volatile sig_atomic_t *interrupted);

#endif
