/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_watch.h - when to ask processes that are recorded what code they registered.
 *
 * A process that is known to publish a page is asked whether it has changed at each
 * sweep, and where a stack leads into memory that nothing is known of: that is one
 * system call.  To find out whether a process has a page costs a search of its
 * mappings, so that is done now and then, less and less often.  Reading a large page
 * that changes all the time takes no more than a twentieth of the time.
 */
#ifndef BOBBIN_PROFILE_CODE_WATCH_H
#define BOBBIN_PROFILE_CODE_WATCH_H

#include <bobbin/unwind.h>

/* Of a process.  Zero: nothing is known.  Times are CLOCK_MONOTONIC's nanoseconds. */
struct code_watch {
	bool publishes;
	uint64_t wait; /* between searches */
	uint64_t due;  /* not before */
};

struct process;

/* Ask now; true: something is new. */
bool code_watch_ask(struct bobbin_unwinder *unwinder, struct process *process);

/* At each sweep. */
void code_watch_sweep(struct bobbin_unwinder *unwinder, struct process *process);

/*
 * After a walk.  true: something is new, and the walk may have missed it.
 */
bool code_watch_trace(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct bobbin_trace *trace);

#endif
