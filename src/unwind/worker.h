/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker.h - a thread that signal handlers, too, can wake to do some work.
 */
#ifndef BOBBIN_UNWIND_WORKER_H
#define BOBBIN_UNWIND_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Zero: there is no thread. */
struct worker {
	_Atomic unsigned int state; /* enum worker_state */
	bool (*work)(void);         /* false: there was nothing to do */
	pthread_t thread;
	bool running;
};

/* 0, also if it runs already; the errno of creating a thread. */
int worker_start(struct worker *worker, bool (*work)(void));

/* Wait for its end. */
void worker_stop(struct worker *worker);

/* In a forked child, where the thread does not exist. */
void worker_forked(struct worker *worker);

/* Whether a call would wake a thread: there is one, and it is idle. */
bool worker_idle(const struct worker *worker);

/* Wake the thread.  Async-signal-safe; a system call if it is idle, else nothing. */
void worker_call(struct worker *worker);

#endif
