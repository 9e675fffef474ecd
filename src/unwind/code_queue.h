/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_queue.h - a thread that analyses the code of files, the most wanted first, while walks
 * go on without.
 *
 * Who asks, walks and closes is one thread; the work is done by another, one file after the
 * other.  When the program that is recorded has all CPUs, the work takes a part of one.
 */
#ifndef BOBBIN_UNWIND_CODE_QUEUE_H
#define BOBBIN_UNWIND_CODE_QUEUE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "table/table_cache.h"

/* Bytes of code that are analysed at most: in all; and of them, after the last walk. */
#define CODE_QUEUE_BYTES ((uint64_t)256 << 20)
#define CODE_QUEUE_BYTES_LATE ((uint64_t)32 << 20)

/* How long walks wait for analyses to end, at most, of a second: rings of samples hold out. */
#define CODE_QUEUE_WAIT_NS 40000000ull

/* What is wanted of a file; part of what the work is for.  Starts as all zero. */
struct code_task {
	_Atomic uint64_t hits; /* walks that would have used it */
	_Atomic bool done;
	bool begun; /* the queue's */
};

/**
 * struct code_means - what the work may use
 * @cache: where tables are kept, or NULL; the thread's own
 * @stop: the work is to end, its result is not wanted
 * @bytes: of code that may be analysed; what was analysed is taken off
 */
struct code_means {
	struct table_cache *cache;
	_Atomic bool stop;
	uint64_t bytes;
};

/* Called by the thread.  What it has written is seen by who sees @task->done. */
typedef void code_work(struct code_task *task, struct code_means *means);

struct code_queue;

/* @cache_path: or NULL.  0, -ENOMEM. */
int code_queue_open(const char *cache_path, code_work *work, struct code_queue **ret);

/* What is being done ends soon, what was not begun is never done.  NULL is fine. */
void code_queue_close(struct code_queue *queue);

/* Want a task done, which lives as long as the queue.  0; -ENOMEM; the errno of a thread. */
int code_queue_ask(struct code_queue *queue, struct code_task *task);

/*
 * One more walk would use it.  The first one waits for it a little, unless others have waited just
 * now for what they want.  Whether it is done.
 */
bool code_queue_await(struct code_queue *queue, struct code_task *task);

/*
 * Nothing is recorded any more: wait until what was asked is done, as far as
 * CODE_QUEUE_BYTES_LATE reach, or a signal handler has set *@interrupted, which may be NULL.
 * Whether something was to be done.
 */
bool code_queue_finish(struct code_queue *queue, const volatile sig_atomic_t *interrupted);

#endif
