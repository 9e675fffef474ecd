/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map_keeper.h - names that processes tell in perf maps, kept for the report.
 *
 *	/proc/PID/root/tmp/perf-PID.map ──► OUTPUT.jit/perf-PID.map ──► bobbin report
 *
 * The file may be in a /tmp that ends with its process, or be removed by it, or be another
 * process's by the time of the report.  So what is sampled in made memory is looked up while the
 * process lives, and its function is written as the process has written it.  A record of a
 * mapping says where.  Where code is replaced, a new file begins, and a record says so: what was
 * sampled before keeps its name, and so does a child that was forked before.
 *
 * A forked child has no map of its own, mostly: then it has those of its lineage as far as its
 * code is the same.
 */
#ifndef BOBBIN_PROFILE_MAP_KEEPER_H
#define BOBBIN_PROFILE_MAP_KEEPER_H

#include "profile/process_table.h"
#include "profile/snapshot.h"

struct map_keeper;

/* What was kept. */
struct jit_keeper_stats {
	uint64_t functions;
	int error; /* the first reason why names are missing, or 0 */
};

/* @folder: borrowed; the others as for jit_keeper_open().  0, -ENOMEM. */
int map_keeper_open(const char *folder, struct process_reader *reader, uint64_t id,
		    snapshot_sink sink, void *ctx, struct map_keeper **ret);
void map_keeper_close(struct map_keeper *keeper); /* NULL is fine */

/* As jit_keeper_trace() and jit_keeper_fork(). */
int map_keeper_trace(struct map_keeper *keeper, const struct process *process,
		     const struct bobbin_trace *trace, uint64_t time);
void map_keeper_fork(struct map_keeper *keeper, int parent, const struct process *child);

struct jit_keeper_stats map_keeper_stats(const struct map_keeper *keeper);

#endif
