/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_walk.h - stacks that are walked inside the kernel, by a BPF program.
 *
 *	mappings, tables ──► maps ──► program, at each sample ──► whole trace
 *	                                   └── else the sample as ever: registers, stack
 *
 * The kernel's maps lag behind its records.  So a trace names the list of mappings that it
 * was walked by, and counts as far as that agrees with what was mapped when the sample was
 * taken.
 */
#ifndef BOBBIN_PROFILE_KERNEL_WALK_H
#define BOBBIN_PROFILE_KERNEL_WALK_H

#include <bobbin/unwind.h>

#include "profile/process_table.h"

struct kernel_walk;

/**
 * struct kernel_walk_stats - what the program has done
 * @walks, @frames: that it began, and of these
 * @whole: walks that came to the end
 * @late: stacks that were walked when their task returned to user mode
 * @roomless, @roomless_files: processes that had no room for their mappings, for a while at
 *	least, and files that have none for their tables
 * @runs, @run_ns: of the program, where kernel.bpf_stats_enabled is set; else 0
 */
struct kernel_walk_stats {
	uint64_t walks, frames, whole, late, roomless, roomless_files, runs, run_ns;
};

/* Whether this build has it. */
bool kernel_walk_is_built(void);

/*
 * Load the program.  @also_copy: the kernel's samples are wanted beside its traces.
 * -ENOSYS: not in this build; -ENXIO: inside a process-ID namespace; -EPERM: not
 * allowed; other errnos of bpf(2), -EACCES among them: this kernel does not prove it.
 */
int kernel_walk_open(struct bobbin_unwinder *unwinder, bool also_copy, struct kernel_walk **ret);

/* What to say of such an error, in @room. */
const char *kernel_walk_error(int error, char *room, size_t size);

/* Whether walks wait for pages that are not in memory. */
bool kernel_walk_waits(const struct kernel_walk *walk);

/* @walk may be NULL. */
void kernel_walk_close(struct kernel_walk *walk);

/* Run it at the samples of an event; give out to an event of a CPU.  0 or a negative errno. */
int kernel_walk_attach(struct kernel_walk *walk, int event);
int kernel_walk_output(struct kernel_walk *walk, int cpu, int event);

/*
 * Take the tables that were made since, before processes are followed; @wait: all that are
 * wanted.  Until a file's table is there, user space walks what leads through its code.
 */
void kernel_walk_take_tables(struct kernel_walk *walk, bool wait);
bool kernel_walk_has_tables_to_come(const struct kernel_walk *walk);

/* The mappings of a process, or its tables, may have changed; it has ended. */
void kernel_walk_follow(struct kernel_walk *walk, struct process *process);
void kernel_walk_forget(struct kernel_walk *walk, struct process *process);

/* Take what was walked late; from then on kernel_walk_trace() knows it. */
void kernel_walk_collect(struct kernel_walk *walk);

/*
 * A trace of the program, from a sample's bytes; @trace as for bobbin_unwind().  Where the
 * mappings have changed since, it ends with BOBBIN_REASON_UNLOADED; where a page was waited for
 * in vain, with BOBBIN_REASON_STACK_HOLE.  false: it makes no sense.
 */
bool kernel_walk_trace(struct kernel_walk *walk, struct process *process,
		       const struct perf_sample *sample, struct bobbin_trace *trace,
		       uint64_t *period);

void kernel_walk_stats(const struct kernel_walk *walk, struct kernel_walk_stats *ret);

#endif
