/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lineage.h - the ancestors whose memory a forked child has inherited.
 *
 * Code that they had generated and announced by then is in the child, too, until it calls exec.
 */
#ifndef BOBBIN_TARGET_LINEAGE_H
#define BOBBIN_TARGET_LINEAGE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/process_reader.h"

/* More are not looked for. */
#define DESCENDANTS_MAX 4096

/*
 * Those of @pid that live now, nearest first, DESCENDANTS_MAX at most; free() the result.
 * Their number, or -ENOMEM.
 */
int descendants_list(pid_t pid, pid_t **ret);

/* More are forgotten. */
#define LINEAGE_MAX 4

struct lineage {
	pid_t pids[LINEAGE_MAX]; /* the parent first */
	unsigned int count;
};

/* That of a child of @parent, whose own lineage is @of. */
struct lineage lineage_of_child(pid_t parent, const struct lineage *of);

/* Of a process that lives: as far as its parents run the same program. */
struct lineage lineage_read(const struct remote_process *process);

/*
 * Whether a child has the same code at an address as an ancestor, so that what the ancestor says
 * of it now holds for the child.  An ancestor that has ended is assumed to have the same code.
 */
bool lineage_shares(const struct remote_process *child, pid_t other, uint64_t start, uint64_t size);

#endif
