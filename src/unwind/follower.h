/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * follower.h - a thread that works when somebody calls, who may be a signal handler.
 */
#ifndef BOBBIN_UNWIND_FOLLOWER_H
#define BOBBIN_UNWIND_FOLLOWER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Zero: there is no thread. */
struct follower {
	_Atomic unsigned int state; /* enum follower_state */
	bool (*work)(void);         /* false: there was nothing to do */
	pthread_t thread;
	bool running;
};

/* 0, also if it runs already; the errno of creating a thread. */
int follower_start(struct follower *follower, bool (*work)(void));

/* Wait for its end. */
void follower_stop(struct follower *follower);

/* In a forked child, where the thread does not exist. */
void follower_forked(struct follower *follower);

/* Whether a call would be heard: a thread is there and has nothing to do. */
bool follower_idle(const struct follower *follower);

/* Let it work.  Async-signal-safe; a system call if it is idle, else nothing. */
void follower_call(struct follower *follower);

#endif
