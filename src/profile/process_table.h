/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_table.h - who runs what, kept true by the kernel's records.
 *
 * MMAP, COMM, FORK and EXIT records in the order of time say which threads and
 * processes there are, what they are called and what they have mapped.
 *
 * Copies are kept of samples that wait for what comes after them:
 *
 *	wait_begin() ──► runnable? ──► wait_woken(), by whom ──► wait_end(): how long it was
 *	sample, cookie ──► held ──► the thread's chain with the cookie ──► samples, oldest first
 *	sample with its stack ──► held ──► the rules of its code ──► samples, oldest first
 *
 * A wait is a thread off the CPU, with the stack by which it left.  A deferred sample has the
 * kernel's part of its call chain only, the user's comes later.  As a thread can be in the kernel
 * for any time, or never leave it, the number of these is bounded.
 */
#ifndef BOBBIN_PROFILE_PROCESS_TABLE_H
#define BOBBIN_PROFILE_PROCESS_TABLE_H

#include <bobbin/unwind.h>
#include <stdbool.h>

#include "bpfwalk/walked_process.h"
#include "profile/code_door.h"
#include "profile/perf_event.h"
#include "target/lineage.h"

#define COMM_SIZE 16

/* What is known of the ways in which a process may tell of its code, see recorder_code.c. */
struct code_watch {
	struct code_door page, images;
	struct code_door text; /* copies of files, see snapshot.h */
	struct code_door maps; /* mappings that the kernel has not told of, see recorder_area.c */
	uint64_t told;         /* the newest registration that the recording has heard of */
	uint64_t sweep;        /* the recorder's, in which it was asked last */
};

/* What is known of the user that a process runs as. */
struct process_owner {
	bool known;
	uint32_t user;
	uint64_t asked; /* when, by clock_now() */
};

/**
 * struct process_cgroup - what is known of the cgroup that a process is in; the recorder's
 * @last: where it was when it was asked, or its parent when it was forked; NULL: unknown
 * @parent: who has forked it; 0: nobody, or it was asked itself
 * @asked: when, by the recording's clock; 0: not yet, or it has called exec since
 */
struct process_cgroup {
	const struct cgroup *last;
	int parent;
	uint64_t asked;
};

/* A sample with its trace; its call chain is @kernel. */
struct kept_stack {
	struct perf_event event;
	struct bobbin_trace trace;
	struct bobbin_frame *frames; /* of @trace */
	size_t frame_room;
	uint64_t kernel[PERF_KERNEL_CHAIN_MAX];
};

struct wait {
	bool open;     /* the thread has left and is not back */
	bool runnable; /* it could have gone on: others were given the CPU */
	bool woken;    /* @waker is known */
	struct kept_stack left, waker;
};

struct probed_calls;

struct process {
	int pid;
	char comm[COMM_SIZE];   /* of its first thread */
	uint32_t threads;       /* alive */
	bool changed;           /* noted, see process_table_note() */
	uint64_t program;       /* another number for each process and program that it runs */
	struct lineage lineage; /* it has their memory since it was forked */
	bool in_exec;           /* has called exec, the new program was not seen to run yet */
	struct bobbin_space *space;
	struct code_watch code; /* the recorder's, and so are the next three */
	struct walked_process walk;
	struct process_owner owner;
	struct process_cgroup cgroup;
	struct left_stacks *left; /* or NULL; freed with the process, see left_stack.h */
	uint64_t window;          /* the last recording that has it, see recording_windows.h */
	struct process *next;     /* the table's */
};

struct thread {
	int tid;
	struct process *process;
	char comm[COMM_SIZE];
	bool told;         /* a record, not only a sample, says that it lives */
	struct wait *wait; /* or NULL; the recorder's, freed with the thread, as the next one */
	struct probed_calls *calls; /* or NULL; see probe_event.h */
	uint64_t window;            /* as the process's */
	struct thread *next;        /* the table's */
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

void process_table_visit_threads(struct process_table *table,
				 void (*visit)(void *ctx, struct thread *thread), void *ctx);

/* Call @ended before a process is forgotten, and note from now on which ones have changed. */
void process_table_watch(struct process_table *table,
			 void (*ended)(void *ctx, struct process *process), void *ctx);

/* Note that a process has changed in a way that records do not tell of. */
void process_table_note(struct process_table *table, struct process *process);

/* Call @visit for each process that has changed since the last time and is still there. */
void process_table_visit_changed(struct process_table *table,
				 void (*visit)(void *ctx, struct process *process), void *ctx);

/* Whether anything was heard of the thread. */
bool process_table_knows(struct process_table *table, int pid, int tid);

/*
 * The thread, made up if nothing was heard of it yet; valid until the next
 * process_table_event().  0, -ENOMEM.
 */
int process_table_thread(struct process_table *table, int pid, int tid, struct thread **ret);

/* The same, or NULL if nothing was heard of it. */
struct thread *process_table_find(struct process_table *table, int tid);

/*
 * The same, or NULL if no record tells that it lives.  Threads have still samples after their EXIT
 * record, the last one when they leave the CPU for good.
 */
struct thread *process_table_alive(struct process_table *table, int pid, int tid);

/*
 * A walk by the mappings of the process: by how far it led, the new program was seen to run.
 * While @in_exec is still set, the registers are those of the program before exec.
 */
void process_has_run(struct process *process, const struct bobbin_trace *trace);

/* Whether a program may have made the code of a frame, or it is not known to be mapped. */
bool process_is_bare(const struct process *process, const struct bobbin_frame *frame);

/* Whether a walk met code that has no file, whatever unwinds it. */
bool process_has_bare_code(const struct process *process, const struct bobbin_trace *trace);

/* The thread leaves; *@wait is NULL or from the last time, and copies are made.  0 or -ENOMEM. */
int wait_begin(struct wait **wait, const struct perf_event *event,
	       const struct bobbin_trace *trace);

/* Another one wakes it up, by this sample of its own.  0 or -ENOMEM. */
int wait_woken(struct wait *wait, const struct perf_event *event, const struct bobbin_trace *trace);

/* The thread is back; @wait may be NULL.  false: it is not known to have left. */
bool wait_end(struct wait *wait, uint64_t time, uint64_t *duration);

/* Samples that wait at most. */
#define DEFERRED_SAMPLES_MAX 4096

/**
 * struct deferred_sample - a sample; its call chain is the kernel's part
 * @size: of it all, in bytes
 * @words: the call chain, then the user registers and the copy of the stack, if there are some
 */
struct deferred_sample {
	struct deferred_sample *next;
	uint64_t cookie;
	size_t size;
	struct perf_event event;
	uint64_t words[];
};

/* Zero to begin. */
struct deferred_samples {
	struct deferred_sample *first, **last;
	size_t count, bytes;
};

/* Keep a copy.  0 or -ENOMEM. */
int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie);

/* Add one that was taken or dropped, as the youngest. */
void deferred_samples_add(struct deferred_samples *samples, struct deferred_sample *sample);

/* The oldest one that the chain belongs to, or NULL; the caller frees it. */
struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie);

/* The oldest one, if more than @max wait, else NULL; the caller frees it. */
struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max);

#endif
