/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * descendants.h - the processes that a process has started, and theirs.
 */
#ifndef BOBBIN_TARGET_DESCENDANTS_H
#define BOBBIN_TARGET_DESCENDANTS_H

#include <stdint.h>
#include <sys/types.h>

/* More are not looked for. */
#define DESCENDANTS_MAX 4096

/*
 * Those of @pid that live now, nearest first, DESCENDANTS_MAX at most; free() the result.
 * Their number, or -ENOMEM.
 */
int descendants_list(pid_t pid, pid_t **ret);

#endif
