/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder_state.h - a recorder, for its start (recorder_start.c) and what follows (recorder.c).
 */
#ifndef BOBBIN_PROFILE_RECORDER_STATE_H
#define BOBBIN_PROFILE_RECORDER_STATE_H

#include "bpfwalk/bpf_walk.h"
#include "profile/code_watch.h"
#include "profile/event_identity.h"
#include "profile/foreign_processes.h"
#include "profile/kept_sample.h"
#include "profile/recorder_options.h"
#include "profile/return_probes.h"
#include "profile/sampler.h"
#include "profile/snapshot.h"
#include "profile/trace_payload.h"
#include "profile/walk_comparison.h"
#include "unwind/module.h"

struct recorder {
	struct recorder_options options;
	struct sampler_event *events; /* those of the options, as they are opened */
	struct probe_event *probes;   /* of each, where there is one; then of entries, likewise */
	struct return_probes returns;
	struct sampler *sampler;
	struct off_cpu off_cpu;
	struct foreign_processes foreign; /* of wakers */
	struct bobbin_unwinder *unwinder;
	struct process_table *processes;
	struct sample_event *described; /* the events, for the sink */
	struct event_ids event_ids;     /* of those, if there are several */
	struct code_watcher watcher;
	struct bpf_walk *loading,
		*walk; /* one of them, or neither; the first is to be waited for */
	struct walk_comparison *comparison; /* or NULL */
	struct deferred_samples deferred;
	bool hurries;          /* the rings fill up while processes are followed */
	uint64_t follow_until; /* clock_now() */
	bool behind;           /* not all processes were followed by then */
	bool preloads;         /* files are read when they are mapped */
	uint64_t id;           /* that marks our own records */
	uint64_t time;         /* of the last record, on the recording's clock */
	uint64_t stopped;      /* clock_now(), or 0 */
	int error;             /* of the sink, in a visit of all processes */
	struct recorder_stats stats;
	/* the user's part of a sample begins at the same place in all of them */
	struct bobbin_frame frames[STACK_SAMPLE_KERNEL_MAX + TRACE_CHAIN_MAX];
};

/* Give a record to the sink.  0 or a negative errno. */
int recorder_put(void *recorder, const struct perf_event *event);

/* Take in a record that is no sample, and give it. */
int recorder_on_record(void *recorder, const struct perf_event *event);

/* The same for one that tells what is so now. */
int recorder_on_description(void *recorder, const struct perf_event *event);

/* Tell what runs, and what it has mapped and registered.  @files: or NULL */
int recorder_describe(struct recorder *recorder, pid_t pid, struct snapshot_files *files);

/* Give what images a process has told of. */
int recorder_tell_images(struct recorder *recorder, struct process *process);

/*
 * After a walk: 1: something is known now that the walk may have missed, and was told; 0; or a
 * negative errno.
 */
int recorder_watch_code(struct recorder *recorder, struct process *process,
			const struct bobbin_trace *trace);

/* Count a sample and its user part, which is in recorder_trace(), and give it. */
int recorder_put_user(struct recorder *recorder, const struct perf_event *event,
		      struct process *process, struct bobbin_trace *trace);

/* Room for the user part of a sample. */
struct bobbin_trace recorder_trace(struct recorder *recorder);

/* A sample whose stack the kernel walks: hold it, or give it if there is nothing to come. */
int recorder_defer(struct recorder *recorder, const struct perf_event *event,
		   struct process *process);

/* What the kernel has found: give the samples that wait for it. */
int recorder_on_user_chain(struct recorder *recorder, const struct perf_event *event);

/* Give the oldest samples that wait without a user part, until @max are left. */
int recorder_give_up(struct recorder *recorder, size_t max);

/* Wait for samples at the end of a wait; see off_cpu.h. */
int recorder_put_wait(void *recorder, struct process *process, const struct wait *wait,
		      const struct perf_event *event);

/*
 * Tell the kernel's walker what has changed.  @wait: for all tables.  In a hurry it takes no longer
 * than a ring may fill, and the rest comes the next time.
 */
void recorder_follow_all(struct recorder *recorder, bool wait);

void recorder_close(struct recorder *recorder);

#endif
