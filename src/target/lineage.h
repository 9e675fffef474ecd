/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lineage.h - the processes whose memory a forked child began with.
 *
 * What they had made and told of by then is in the child as well, as long as it calls no exec.
 */
#ifndef BOBBIN_TARGET_LINEAGE_H
#define BOBBIN_TARGET_LINEAGE_H

#include "base/process_reader.h"

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
 * Whether code of a child is what another process of its lineage has at the same address, so that
 * what that one tells of it now holds for the child.  What has ended cannot be asked, and is
 * believed.
 */
bool lineage_shares(const struct remote_process *child, pid_t other, uint64_t start, uint64_t size);

#endif
