/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_signals.h - what signals ask of a command that shows something live.
 */
#ifndef BOBBIN_CLI_TOP_SIGNALS_H
#define BOBBIN_CLI_TOP_SIGNALS_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* What was asked for; the caller clears it. */
struct top_signals {
	volatile sig_atomic_t end;     /* the signal that ends the command, or 0 */
	volatile sig_atomic_t stop;    /* SIGTSTP: leave the terminal and stop */
	volatile sig_atomic_t resumed; /* SIGCONT: the terminal was somebody else's */
	volatile sig_atomic_t resized; /* SIGWINCH */
};

extern struct top_signals top_signals;

/* From now on signals are noted; @screen: those of a terminal, too. */
void top_signals_catch(bool screen);

/* Stop, as SIGTSTP does; where nobody could let the process go on, it goes on at once. */
void top_signals_stop(void);

/* From now on those that end a command end this one at once. */
void top_signals_let(void);

/* poll(2), which a signal ends even if it comes right before. */
int top_signals_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

/* A thread that takes no signals.  0 or a negative errno. */
int top_signals_thread(pthread_t *thread, void *(*run)(void *ctx), void *ctx);

#endif
