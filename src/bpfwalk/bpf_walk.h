/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_walk.h - walk the stacks of samples inside the kernel, by a BPF program.
 *
 *	mappings, tables ──► maps ──► program, at each sample ──► whole trace
 *	                                   └── else the usual sample: registers, stack
 *
 * The maps are filled from the kernel's records, some milliseconds late.  So a trace names the list
 * of mappings that it was walked by, and is cut where that disagrees with what was mapped when the
 * sample was taken.
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
 * @walks, @frames: walks that it began, and their frames
 * @waits: walks wait for pages that are not in memory
 * @whole: walks that came to the end
 * @late: stacks that were walked when their task returned to user mode
 * @roomless: processes whose mappings had no room, at least for a while
 * @roomless_files: files and registered sections whose tables had no room
 * @records, @record_bytes: that the program has given out
 * @unknown: of them, those that name a stack, or a part of one, that is not known any more
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
 * Begin to load the program, in a thread: the kernel takes up to a second to prove it.  0;
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

/* Whether there is nothing to wait for, or will not be when clock_now() is @until. */
bool bpf_walk_is_loaded(const struct bpf_walk *walk, uint64_t until);

/* What is still being loaded is given up.  @walk may be NULL. */
void bpf_walk_close(struct bpf_walk *walk);

/* Run it at the samples of an event; if it is relayed, later.  0 or a negative errno. */
int bpf_walk_attach(struct bpf_walk *walk, int event);

/* Of a walk that is relayed: up to now the kernel's samples are wanted.  0 or a negative errno. */
int bpf_walk_run(struct bpf_walk *walk);

/*
 * Run a program at each hit of the event with this number.  What it cannot walk goes to @events of
 * perf, of which each is of one of @cpus.  Hits are not wanted at first.  0 or a negative errno.
 */
int bpf_walk_attach_hits(struct bpf_walk *walk, uint32_t number, const int *events, const int *cpus,
			 size_t count);
void bpf_walk_want_hits(struct bpf_walk *walk, bool wanted);

/* Sample a thread's hits, as enum kernel_sampling says.  0 or a negative errno. */
int bpf_walk_sample(struct bpf_walk *walk, pid_t tid, uint64_t how);

/*
 * Take the tables that were built since the last call; @wait: until all are built.  Call it before
 * processes are followed.  Stacks through code without a table are walked in user space.  Whether to
 * follow all processes now, and not only those with new records: tables came that lists wait for,
 * or some time has passed.
 */
bool bpf_walk_take_tables(struct bpf_walk *walk, bool wait);
bool bpf_walk_has_tables_to_come(const struct bpf_walk *walk);

/* Tell the kernel of a process whose mappings or tables may have changed; forget one that ended. */
void bpf_walk_follow(struct bpf_walk *walk, struct walked_process *process);
void bpf_walk_forget(struct bpf_walk *walk, struct walked_process *process);

/*
 * What was read of the kernel's records: one of a mapping, which the process's space has already;
 * one of execve(); all up to a time, which is said before processes are followed.  Times are by
 * CLOCK_MONOTONIC.  0; -ENOMEM: bpf_walk_next() could not take all samples.
 */
void bpf_walk_mapped(struct bpf_walk *walk, struct walked_process *process, uint64_t time,
		     uint64_t addr);
void bpf_walk_exec(struct bpf_walk *walk, int pid, uint64_t time);
int bpf_walk_read_until(struct bpf_walk *walk, uint64_t time);

/* A descriptor that can be read when there are many samples. */
int bpf_walk_wake_fd(const struct bpf_walk *walk);

/* Take new samples, late stacks, and lists that the kernel has made.  0, -ENOMEM. */
int bpf_walk_collect(struct bpf_walk *walk);

/* The time of the next sample, by CLOCK_MONOTONIC; UINT64_MAX: there is none. */
uint64_t bpf_walk_time(const struct bpf_walk *walk);

/* Take that sample; valid until the next call. */
const struct bpf_trace *bpf_walk_next(struct bpf_walk *walk);

/*
 * The user stack of a sample; @trace as for bobbin_unwind().  Where the mappings have
 * changed since, it ends with BOBBIN_REASON_UNLOADED; where a page was waited for in vain, with
 * BOBBIN_REASON_STACK_HOLE.  false: it was walked by registrations that user space does not know
 * any more, so user space would walk it otherwise.
 */
bool bpf_walk_trace(struct bpf_walk *walk, struct walked_process *process,
		    const struct bpf_trace *walked, struct bobbin_trace *trace);

void bpf_walk_stats(const struct bpf_walk *walk, struct bpf_walk_stats *ret);

#endif
