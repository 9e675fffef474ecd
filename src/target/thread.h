/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread.h - stop a thread of another process and read its registers.
 */
#ifndef BOBBIN_TARGET_THREAD_H
#define BOBBIN_TARGET_THREAD_H

#include <bobbin/step.h>
#include <sys/types.h>

/* The machine that this is compiled for. */
const struct bobbin_arch *native_arch(void);

/*
 * Attach and stop.  0, or a negative errno: -EPERM (not allowed to trace),
 * -ESRCH (gone).  thread_release() lets it run on.
 */
int thread_stop(pid_t tid);
void thread_release(pid_t tid);

/* Registers of a stopped thread; they borrow @gpr.  0 or a negative errno. */
int thread_registers(pid_t tid, uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret);

/* All threads of a process, ascending; free() the result.  Count or a negative errno. */
int thread_list(pid_t pid, pid_t **ret);

#endif
