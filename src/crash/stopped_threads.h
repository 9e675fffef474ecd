/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stopped_threads.h - stop the other threads of the own process, each in a signal handler.
 *
 *	reporter: SIGSTKFLT to each ──► thread: handler notes its registers, waits
 *	walks their stacks		…
 *	releases them			──► returns to what it did
 *
 * No program uses that signal, and its action is changed only when there is a report.  A thread that
 * does not answer is not waited for longer than some seconds.
 *
 * All static: one report at a time, as the caller sees to.
 */
#ifndef BOBBIN_CRASH_STOPPED_THREADS_H
#define BOBBIN_CRASH_STOPPED_THREADS_H

#include <signal.h>

#include <bobbin/types.h>

/* More are not stopped. */
#define STOPPED_THREADS_MAX 8192
#define STOPPED_THREADS_SIGNAL SIGSTKFLT

enum thread_state {
	THREAD_STOPPED,
	THREAD_BLOCKING, /* it blocks the signal, and runs on */
	THREAD_SILENT,   /* it has not answered in time */
	THREAD_ENDED,
};

/* Stop all but the calling one.  -ENOENT: threads cannot be listed; 0. */
int stopped_threads_stop(void);

/* How many there are; whether there are more than were stopped. */
unsigned int stopped_threads_count(void);
bool stopped_threads_are_all(void);

/* One of them; *@context: what the signal interrupted, for bobbin_context_regs(), if it is stopped. */
enum thread_state stopped_threads_state(unsigned int number, int *tid, const void **context);

/* Let them run on. */
void stopped_threads_release(void);

#endif
