/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_roots.h - the roots of processes, kept if they are others than ours.
 *
 * What belongs to a mapped file, such as its debug file, is in the root of the process, which
 * may be gone when that is looked for.  So a descriptor of the root is kept.
 */
#ifndef BOBBIN_TARGET_PROCESS_ROOTS_H
#define BOBBIN_TARGET_PROCESS_ROOTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/process_reader.h"

/* Further ones are not kept. */
#define PROCESS_ROOTS_MAX 1024

struct process_root {
	uint64_t device, inode;
	int fd;
	char *path; /* that leads to it, also where another process of ours opens it */
};

struct process_roots {
	struct process_root *list;
	size_t count, room;
};

/* A path of the process's root, as long as @roots: OWN_ROOT if it is ours; NULL: it is not known. */
const char *process_roots_find(struct process_roots *roots, const struct remote_process *process);
void process_roots_fini(struct process_roots *roots);

#endif
