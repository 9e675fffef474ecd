/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * living_thread.h - the way into a process whose first thread has ended.
 *
 * A process lives for as long as a thread of it does.  But its first thread may end before
 * the others (pthread_exit(3) in main()), and then everything that goes by the process's
 * number fails, although all is still there: /proc/PID/maps is empty, exe, root and map_files
 * lead nowhere, process_vm_readv(2) says ESRCH.  The number of any thread that lives opens
 * the same doors, /proc/TID, too, although no list has it.
 *
 * Without malloc() and streams: for forked children, too.
 */
#ifndef BOBBIN_BASE_LIVING_THREAD_H
#define BOBBIN_BASE_LIVING_THREAD_H

#include <sys/types.h>

/* 0 or more; a negative errno, -ESRCH or -ENOENT if the thread has no such thing. */
typedef int (*living_thread_door)(void *ctx, pid_t tid);

/*
 * What @door returns for @pid; if that is -ESRCH or -ENOENT because the first thread has
 * ended, what it returns for one that lives.  Threads that end meanwhile are passed over.
 */
int living_thread_try(pid_t pid, living_thread_door door, void *ctx);

#endif
