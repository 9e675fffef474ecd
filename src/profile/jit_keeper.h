/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_keeper.h - names that processes tell debuggers only, kept for the report.
 *
 *	GDB's JIT interface ──► OUTPUT.jit/jit-PID.dump ──► bobbin report, perf inject
 *	/tmp/perf-PID.map   ──► OUTPUT.jit/perf-PID.map ──► bobbin report, see map_keeper.h
 *
 * Code that a compiler made is named when the recording is read; the process is
 * gone by then.  So where a stack leads into memory without a file, the process is
 * asked what it tells debuggers, from then on at each sweep, and a jitdump file is
 * written as the process might have done itself.  A record of a mapping says where.
 * Processes that write a jitdump file of their own are left to it.
 */
#ifndef BOBBIN_PROFILE_JIT_KEEPER_H
#define BOBBIN_PROFILE_JIT_KEEPER_H

#include <bobbin/unwind.h>

#include "profile/map_keeper.h"
#include "profile/process_table.h"

struct jit_keeper;

/*
 * @output: of the recording; nothing is kept beside what is no regular file, or NULL.
 * @reader: of processes, or NULL; lives as long.
 * @sink: takes the records, which are marked with @id.  0 or a negative errno.
 */
int jit_keeper_open(const char *output, struct process_reader *reader, uint64_t id,
		    snapshot_sink sink, void *ctx, struct jit_keeper **ret);
void jit_keeper_close(struct jit_keeper *keeper);

/* After a walk: the user part of a sample of @time.  0, -ENOMEM, or what the sink returned. */
int jit_keeper_trace(struct jit_keeper *keeper, const struct process *process,
		     const struct bobbin_trace *trace, uint64_t time);

/* A process was forked: what was kept of its parent is its own, too. */
void jit_keeper_fork(struct jit_keeper *keeper, int parent, const struct process *child);

/* At each sweep: what is new?  0 or -ENOMEM. */
int jit_keeper_sweep(struct jit_keeper *keeper);

struct jit_keeper_stats jit_keeper_stats(const struct jit_keeper *keeper);

#endif
