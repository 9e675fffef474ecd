/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_processes.h - processes that are described, but of which the kernel sends no records.
 *
 * What they map and whether they end is not told: they are described anew from time to time, and a
 * number of them only is kept.
 */
#ifndef BOBBIN_PROFILE_FOREIGN_PROCESSES_H
#define BOBBIN_PROFILE_FOREIGN_PROCESSES_H

#include "profile/process_table.h"

#define FOREIGN_PROCESSES 64

struct foreign_process {
	int pid;                   /* 0: none */
	uint64_t start;            /* when it started, by process_start_time() */
	uint64_t asked, described; /* by clock_now() */
};

/* Zero: none. */
struct foreign_processes {
	struct foreign_process slots[FOREIGN_PROCESSES];
};

/* Takes the EXIT records of what is forgotten.  0 or a negative errno. */
typedef int (*foreign_sink)(void *ctx, const struct perf_event *event);

/*
 * The process of a sample, @known in the table or not, is to be described: 1, and what was known of
 * it is forgotten.  Else 0, or errors of the sink.
 */
int foreign_processes_ask(struct foreign_processes *foreign, struct process_table *table,
			  bool known, const struct perf_event *event, foreign_sink sink, void *ctx);

/* The kernel sends records of it from now on. */
void foreign_processes_drop(struct foreign_processes *foreign, int pid);

#endif
