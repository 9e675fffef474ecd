/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task_names.h - what threads and processes are called, which was last told of each.
 *
 * A process is called as its first thread, or where nothing is known of that, as another one.
 */
#ifndef BOBBIN_EXPORT_TASK_NAMES_H
#define BOBBIN_EXPORT_TASK_NAMES_H

#include <stddef.h>

#include "base/hash_index.h"
#include "base/name_pool.h"

struct task_name;

/* Zero to begin. */
struct task_names {
	struct task_name *tasks;
	size_t count, room;
	struct hash_index index;
	struct name_pool names;
};

void task_names_fini(struct task_names *names);

/* A thread is called @comm.  0 or -ENOMEM. */
int task_names_note(struct task_names *names, int pid, int tid, const char *comm);

/* The same of a thread, or a process by its first, of which something is known; of others nothing happens. */
int task_names_change(struct task_names *names, int id, const char *comm);

/* The name of a thread, or of a process; "" for none. */
const char *task_names_find(const struct task_names *names, int id);

#endif
