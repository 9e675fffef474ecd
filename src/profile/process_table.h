/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_table.h - who runs what, kept true by the kernel's records.
 *
 * MMAP, COMM, FORK and EXIT records in the order of time say which threads and
 * processes there are, what they are called and what they have mapped.
 */
#ifndef BOBBIN_PROFILE_PROCESS_TABLE_H
#define BOBBIN_PROFILE_PROCESS_TABLE_H

#include <bobbin/unwind.h>
#include <stdbool.h>

#include "profile/perf_event.h"

#define COMM_SIZE 16

/* When to ask again in one of two ways what code there is, see code_watch.h.  By CLOCK_MONOTONIC. */
struct code_door {
	bool open;         /* the process uses it */
	uint64_t due;      /* not before */
	uint64_t search;   /* when to search without a cause; 0: not set yet */
	uint64_t wait;     /* between such searches */
	uint32_t searches; /* in vain, of those that may follow each other quickly */
};

/* Both.  Zero: nothing is known. */
struct code_watch {
	struct code_door page, images;
	uint64_t told; /* the newest registration that the recording has heard of */
};

struct known_list;

/* What the kernel's walker was told of the mappings. */
struct process_walk {
	bool followed;
	bool waits;          /* for tables that are in the making */
	uint64_t taken;      /* tables there were then */
	uint64_t generation; /* of the space, when it was told */
	uint64_t retry;      /* when to try again to find room; 0: there was */
	struct known_list *list;
};

struct process {
	int pid;
	uint32_t threads; /* alive */
	bool in_exec;     /* has called exec, the new program was not seen to run yet */
	struct bobbin_space *space;
	struct code_watch code; /* the recorder's, and so is the next one */
	struct process_walk walk;
	struct process *next; /* the table's */
};

struct thread {
	int tid;
	struct process *process;
	char comm[COMM_SIZE];
	struct thread *next; /* the table's */
};

struct process_table;

/*
 * @live: the processes are alive on this machine, their files can be opened
 * through /proc.  0, -ENOMEM.
 */
int process_table_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch, bool live,
		       struct process_table **ret);
void process_table_close(struct process_table *table);

/* Take a record into account; others than the above are ignored.  0, -ENOMEM. */
int process_table_event(struct process_table *table, const struct perf_event *event);

/* Call @visit for each process; it must not change the table. */
void process_table_visit(struct process_table *table,
			 void (*visit)(void *ctx, struct process *process), void *ctx);

/* Call @ended before a process is forgotten. */
void process_table_watch(struct process_table *table,
			 void (*ended)(void *ctx, struct process *process), void *ctx);

/*
 * The thread, made up if nothing was heard of it yet; valid until the next
 * process_table_event().  0, -ENOMEM.
 */
int process_table_thread(struct process_table *table, int pid, int tid, struct thread **ret);

/*
 * A walk by the mappings of the process: by how far it led, the new program was seen to run.
 * While @in_exec is still set, the registers are those of the program before exec.
 */
void process_has_run(struct process *process, const struct bobbin_trace *trace);

#endif
