/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_sink.h - what takes samples, whatever they are for.
 *
 *	recorder, session ──► struct sample_sink ──► perf.data, another thread, tree, lines
 *
 * A recorder calls begin, then sample and record in its own order, round after each sweep over its
 * rings, and end or abort.  A session calls sample only.  Each function returns 0; -E2BIG for what
 * was too large and is left out; or another negative errno: then nothing follows but the end.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_SINK_H
#define BOBBIN_PROFILE_SAMPLE_SINK_H

#include "profile/perf_event.h"
#include "profile/stack_sample.h"

struct process_table;

/* An event that is sampled; its first id marks the records that it made. */
struct sample_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t nr_ids;
};

/* Where samples come from; lives until the end. */
struct sample_source {
	struct bobbin_unwinder *unwinder;
	struct process_table *processes; /* as of what was given last */
	const struct sample_event *events;
	size_t event_count; /* 1 at least */
};

/**
 * struct sample_sink - functions of a sink: those that its source calls
 * @begin: before all others
 * @sample: valid during the call
 * @record: MMAP, MMAP2, COMM, FORK, EXIT, LOST or LOST_SAMPLES, likewise
 * @round: nothing that is given later is older than what was given before the last round
 * @end: there is no more; @error: why that is sooner than it should be, or 0
 * @abort: instead: forget it all; NULL: there is nothing to forget
 */
struct sample_sink {
	int (*begin)(void *ctx, const struct sample_source *source);
	int (*sample)(void *ctx, const struct stack_sample *sample);
	int (*record)(void *ctx, const struct perf_event *event);
	int (*round)(void *ctx);
	int (*end)(void *ctx, int error);
	void (*abort)(void *ctx);
};

#endif
