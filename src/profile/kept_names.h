/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept_names.h - names of compiled code, kept beside a recording.
 *
 *	GDB's JIT interface ──► jit_keeper: OUTPUT.jit/jit-PID.dump ──► bobbin report, perf inject
 *	a Java virtual machine's structures ──► jit_keeper, likewise
 *	/tmp/perf-PID.map   ──► map_keeper: OUTPUT.jit/perf-PID.map ──► bobbin report
 *
 * Code that a compiler made is named when the recording is read; the process is gone by then.  So
 * where a stack leads into memory without a file, the process is asked what it tells debuggers,
 * from then on at each sweep, and a jitdump file is written as the process might have done itself.
 * A record of a mapping says where.  Processes that write a jitdump file of their own are left to
 * it.
 */
#ifndef BOBBIN_PROFILE_KEPT_NAMES_H
#define BOBBIN_PROFILE_KEPT_NAMES_H

#include <bobbin/unwind.h>
#include <stdio.h>

#include "profile/process_table.h"
#include "profile/snapshot.h"

struct jit_keeper;

/* What was kept. */
struct jit_keeper_stats {
	uint64_t functions;
	int error; /* the first reason why names are missing, or 0 */
};

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

/* OUTPUT.jit, and who is told of what is in it. */
struct jit_folder {
	char *path; /* absolute; NULL: nothing is kept */
	struct process_reader *reader;
	uint64_t id;
	snapshot_sink sink;
	void *ctx;
	struct jit_keeper_stats stats;
};

/* What a file there may have. */
#define JIT_FOLDER_FILE_MAX ((uint64_t)256 << 20)

/*
 * Make a file of the name in the folder, and the folder, which must be the user's alone.  0,
 * -EPERM, -ENOMEM or the errno of making it.
 */
int jit_folder_create(const struct jit_folder *folder, const char *name, FILE **ret);

/* Give the record that leads a reader to a file: of a mapping at @address.  As the sink. */
int jit_folder_mark(const struct jit_folder *folder, const char *name, FILE *file, int pid,
		    uint64_t time, uint64_t address);

/* Note why names are missing. */
void jit_folder_fail(struct jit_folder *folder, int error);

/* Names that processes tell in perf maps.  @folder: borrowed.  0, -ENOMEM. */
struct map_keeper;
int map_keeper_open(struct jit_folder *folder, struct map_keeper **ret);
void map_keeper_close(struct map_keeper *keeper); /* NULL is fine */

/* As jit_keeper_trace() and jit_keeper_fork(). */
int map_keeper_trace(struct map_keeper *keeper, const struct process *process,
		     const struct bobbin_trace *trace, uint64_t time);
void map_keeper_fork(struct map_keeper *keeper, int parent, const struct process *child);

#endif
