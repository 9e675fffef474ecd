/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signal_guard.h - one signal that is the sampler's, whatever the program does with all signals.
 *
 * The calls by which programs block signals, wait for them, or set their handlers come here first,
 * and do not see it.  A handler that the program sets for it gets it where it is not the sampler's.
 */
#ifndef BOBBIN_SHIM_SIGNAL_GUARD_H
#define BOBBIN_SHIM_SIGNAL_GUARD_H

#include <signal.h>

/* Programs that use such signals begin with the first or the last one. */
#define GUARDED_SIGNAL (SIGRTMAX - 3)

typedef void signal_guard_fn(int signal, siginfo_t *info, void *ucontext);

/* Set the handler, from now on.  0 or a negative errno. */
int signal_guard_open(signal_guard_fn *handler);

/* Let the calling thread have it.  Async-signal-safe, leaves errno alone. */
void signal_guard_unblock(void);

/* In the handler: it is not the sampler's.  Do what would have been done without it. */
void signal_guard_forward(int signal, siginfo_t *info, void *ucontext);

/* The function @name that would have been called, or NULL. */
void *next_function(const char *name);

#endif
