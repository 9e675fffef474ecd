/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * thread_names.h - what the threads of a live process are called, by their numbers in its own PID
 * namespace, which are those of a core file.
 */
#ifndef BOBBIN_CLI_THREAD_NAMES_H
#define BOBBIN_CLI_THREAD_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct thread_name {
	uint64_t tid;
	char name[16];
};

/* Ascending; zero to begin. */
struct thread_names {
	struct thread_name *list;
	size_t count, room;
};

/* Threads whose names cannot be read have none. */
void thread_names_read(int pid, struct thread_names *ret);

/* NULL: it is not known. */
const char *thread_names_find(const struct thread_names *names, int tid);

void thread_names_fini(struct thread_names *names);

#endif
