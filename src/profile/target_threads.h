/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * target_threads.h - the threads of what is to be recorded.
 */
#ifndef BOBBIN_PROFILE_TARGET_THREADS_H
#define BOBBIN_PROFILE_TARGET_THREADS_H

#include <stddef.h>
#include <sys/types.h>

/* Appends those of @pid, or only @tid if it is not 0, to @tids, which has room for @capacity.  0 or a negative errno. */
int target_threads(pid_t pid, pid_t tid, pid_t **tids, size_t *count, size_t *capacity);

#endif
