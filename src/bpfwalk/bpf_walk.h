/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_walk.h - stacks that are walked inside the kernel, by a BPF program.
 *
 *	mappings, tables ──► maps ──► program, at each sample ──► whole trace
 *	                                   └── else the sample as ever: registers, stack
 *
 * The kernel's maps lag behind its records.  So a trace names the list of mappings that it
 * was walked by, and counts as far as that agrees with what was mapped when the sample was
 * taken.
 */
#ifndef BOBBIN_BPFWALK_BPF_WALK_H
#define BOBBIN_BPFWALK_BPF_WALK_H

#include <bobbin/unwind.h>
#include <sys/types.h>

#include "bpfwalk/bpf_samples.h"
#include "bpfwalk/bpf_walk_options.h"
#include "bpfwalk/walked_process.h"

struct bpf_walk;

/**
 * struct bpf_walk_stats - what the program has done
 * @walks, @frames: that it began, and of these
 * @waits: walks wait for pages that are not in memory
 * @whole: walks that came to the end
 * @late: stacks that were walked when their task returned to user mode
 * @roomless, @roomless_files: processes that had no room for their mappings, for a while at
 *	least, and files or registered sections that have none for their tables
 * @records, @record_bytes: that the program has given out, and @unknown of them without the
 *	user's part of the stack or the kernel's: what that was is not known any more
 * @broken: records that make no sense
 * @unfollowed: threads whose hits are missing, as there was no room for more of them
 * @runs, @run_ns: of the program, where kernel.bpf_stats_enabled is set; else 0
 */
struct bpf_walk_stats {
	bool waits;
	uint64_t walks, frames, whole, late, roomless, roomless_files, records, record_bytes,
		unknown, broken, unfollowed, runs, run_ns;
};

/* Whether this build has it. */
bool bpf_walk_is_built(void);

/*
 * Begin to load the program, in a thread: the kernel takes a quarter of a second to prove it.  0;
 * -ENOSYS: not in this build; or a negative errno.
 */
int bpf_walk_start(struct bobbin_unwinder *unwinder, const struct bpf_walk_options *options,
		   struct bpf_walk **ret);

/*
 * Wait for that, once, before anything else but bpf_walk_close().  0; -ENXIO: inside a process-ID
 * namespace; -EPERM: not allowed; other errnos of bpf(2), -EACCES among them: this kernel does not
 * prove it.
 */
int bpf_walk_wait(struct bpf_walk *walk);

/* Room for what bpf_walk_error() says. */
#define WALK_ERROR_SIZE 160

/* What to say of such an error, in @room. */
const char *bpf_walk_error(int error, char *room, size_t size);

/* @walk may be NULL. */
void bpf_walk_close(struct bpf_walk *walk);

/* Run it at the samples of an event.  0 or a negative errno. */
int bpf_walk_attach(struct bpf_walk *walk, int event);

/*
 * Run a program at each hit of the event with this number.  What it cannot walk goes to @events of
 * perf, of which each is of one of @cpus.  Hits are not wanted at first.  0 or a negative errno.
 */
int bpf_walk_attach_hits(struct bpf_walk *walk, uint32_t number, const int *events, const int *cpus,
			 size_t count);
void bpf_walk_want_hits(struct bpf_walk *walk, bool wanted);

/* Of these a thread's, as enum kernel_sampling says.  0 or a negative errno. */
int bpf_walk_sample(struct bpf_walk *walk, pid_t tid, uint64_t how);

/*
 * Take the tables that were made since, before processes are followed; @wait: all that are
 * wanted.  Until a file's table is there, user space walks what leads through its code.
 */
void bpf_walk_take_tables(struct bpf_walk *walk, bool wait);
bool bpf_walk_has_tables_to_come(const struct bpf_walk *walk);

/*
 * Whether all processes are to be followed now, and not only those of which records were read:
 * tables came that lists wait for, or time has passed.
 */
bool bpf_walk_look_is_due(struct bpf_walk *walk);

/* The mappings of a process, or its tables, may have changed; it has ended. */
void bpf_walk_follow(struct bpf_walk *walk, struct walked_process *process);
void bpf_walk_forget(struct bpf_walk *walk, struct walked_process *process);

/*
 * The kernel's record of a mapping was read, and the process table knows of it; the record of
 * execve(); and all records up to a time were, before processes are followed.  Times are those of
 * CLOCK_MONOTONIC.
 */
void bpf_walk_mapped(struct bpf_walk *walk, struct walked_process *process, uint64_t time,
		     uint64_t addr);
void bpf_walk_exec(struct bpf_walk *walk, int pid, uint64_t time);
void bpf_walk_read_until(struct bpf_walk *walk, uint64_t time);

/* A descriptor that can be read when there are many samples. */
int bpf_walk_wake_fd(const struct bpf_walk *walk);

/*
 * Take what was given out since, what was walked late, and lists that the kernel has made.  0,
 * -ENOMEM.
 */
int bpf_walk_collect(struct bpf_walk *walk);

/* The time of the next sample, by CLOCK_MONOTONIC; UINT64_MAX: there is none. */
uint64_t bpf_walk_time(const struct bpf_walk *walk);

/* 0, -ENOMEM: bpf_walk_next() could not take all samples. */
int bpf_walk_missed(const struct bpf_walk *walk);

/* Take that sample; valid until the next call. */
const struct bpf_trace *bpf_walk_next(struct bpf_walk *walk);

/*
 * The user stack of the last sample; @trace as for bobbin_unwind().  Where the mappings have
 * changed since, it ends with BOBBIN_REASON_UNLOADED; where a page was waited for in vain, with
 * BOBBIN_REASON_STACK_HOLE.  false: it was walked by registrations that user space does not know
 * any more, so user space would walk it otherwise.
 */
bool bpf_walk_trace(struct bpf_walk *walk, struct walked_process *process,
		    struct bobbin_trace *trace);

void bpf_walk_stats(const struct bpf_walk *walk, struct bpf_walk_stats *ret);

#endif
