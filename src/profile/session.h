/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - the samples of a perf.data file, with their call chains.
 *
 * Files that bobbin recorded, and those of `perf record --call-graph fp`, have
 * call chains; samples with registers and a copy of the stack
 * (`--call-graph dwarf`) are unwound here.
 */
#ifndef BOBBIN_PROFILE_SESSION_H
#define BOBBIN_PROFILE_SESSION_H

#include <bobbin/unwind.h>

#include "profile/perf_reader.h"
#include "profile/process_table.h"
#include "profile/trace_gaps.h"

#define SESSION_MAX_FRAMES (2 * TRACE_CHAIN_MAX)

struct session_frame {
	uint64_t pc;
	bool kernel;
	bool exact; /* struct bobbin_frame's */
	uint8_t source;
	uint32_t left_out; /* not 0: no frame, but so many that were left out here */
};

/* A sample; everything is valid until the next session_next(). */
struct session_sample {
	const char *event; /* its name */
	size_t event_number;
	int pid, tid;
	uint32_t cpu;
	uint64_t time, period;
	uint64_t code_time; /* @time by CLOCK_MONOTONIC; UINT64_MAX: it has another clock */
	const char *comm;
	struct bobbin_space *space;
	const struct lineage *lineage;      /* of the process */
	const struct session_frame *frames; /* leaf first, kernel before user */
	size_t count;
	bool weighed;              /* the event has its samples' periods from what happened, such as
				    * how long it took, not from how often it is sampled */
	bool chained;              /* it was recorded with a call chain or a stack */
	bool traced;               /* @reason is known */
	enum bobbin_reason reason; /* why the user part ended */
};

struct infer_ops;
struct session;

/* @infer: of inferred rules, or NULL.  Errors as perf_reader_open(). */
int session_open(const char *path, const struct bobbin_unwinder_options *unwind,
		 const struct infer_ops *infer, struct bobbin_error *err, struct session **ret);

/*
 * Follow a recording that is being made on this machine, of processes that live: there are no
 * samples before session_feed().  0 or a negative errno.
 */
int session_open_live(const struct bobbin_unwinder_options *unwind, const struct infer_ops *infer,
		      struct session **ret);

/*
 * Go on with further records: a recording that must outlive the last session_next(), which
 * reads it to its end.  Errors as perf_reader_open_bytes(): nothing has changed.
 */
int session_feed(struct session *session, const void *data, size_t size, struct bobbin_error *err);

void session_close(struct session *session);

/* Return: 1 and a sample; 0 at the end; a negative errno with @err. */
int session_next(struct session *session, struct bobbin_error *err, struct session_sample *ret);

struct perf_reader *session_reader(const struct session *session);
struct bobbin_unwinder *session_unwinder(const struct session *session);

#endif
