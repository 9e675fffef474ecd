/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.h - stop a thread of another process and read its registers.
 */
#ifndef BOBBIN_TARGET_THREAD_H
#define BOBBIN_TARGET_THREAD_H

#include <bobbin/step.h>
#include <sys/types.h>

/* A thread that is to stop. */
struct stopped_thread {
	pid_t tid;
	int signal; /* that it was about to take; 0: none */
};

/*
 * Attach and stop, within @limit_ms as in process_is_late().  0: thread_release() lets the
 * thread run on, and take the signal if it was about to; a process that is stopped stays so.
 * -ETIMEDOUT: it does not stop, as in vfork(2); from then on thread_release_late() has to be
 * called.  Other negative errnos, without effect on @ret: -EPERM (not allowed to trace),
 * -ESRCH (gone).
 */
int thread_stop(pid_t tid, unsigned int limit_ms, struct stopped_thread *ret);
void thread_release(const struct stopped_thread *thread);

/* Let a thread run on that stopped too late.  true: it does, or has ended; false: not yet. */
bool thread_release_late(struct stopped_thread *thread);

/* Registers of a stopped thread; they borrow @gpr.  0 or a negative errno. */
int thread_registers(pid_t tid, uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret);

/* All threads of a process, ascending; free() the result.  Count, above 0, or a negative errno. */
int thread_list(pid_t pid, pid_t **ret);

/* The same of all processes that this one can see. */
int process_list(pid_t **ret);

#endif
