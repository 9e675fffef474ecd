/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - a recording: its samples, with their call chains, for a sink, and its names.
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
#include "profile/stack_sample.h"
#include "symbol/naming.h"

struct infer_ops;
struct session;

/*
 * How it is read; @infer: of inferred rules, or NULL; @symbolizer: what knows files from other
 * recordings, see naming_open(); NULL: one by @naming.
 */
struct session_options {
	struct bobbin_unwinder_options unwind;
	const struct infer_ops *infer;
	struct symbolizer_options naming;
	struct symbolizer *symbolizer;
};

/* Errors as perf_reader_open(). */
int session_open(const char *path, const struct session_options *options, struct bobbin_error *err,
		 struct session **ret);

void session_close(struct session *session);

/* The names that it keeps are damaged, and are as good as none: why, and where; or 0. */
int session_names_error(const struct session *session, struct bobbin_error *err);

/*
 * Give the next sample to @sink, which is valid until the next call.  1: that was one; 0: there is
 * none; the error of the sink; or a negative errno of the recording with @err.
 */
int session_next(struct session *session, const struct sample_sink *sink, void *ctx,
		 struct bobbin_error *err);

/*
 * Give all samples to @sink, and nothing else.  0; the first error of the sink, which ends it
 * sooner; or a negative errno of the recording with @err.
 */
int session_run(struct session *session, const struct sample_sink *sink, void *ctx,
		struct bobbin_error *err);

struct perf_reader *session_reader(const struct session *session);

/* By the names that it keeps, and what names the others. */
/* The time of day of a record's time, in nanoseconds; 0: it is not known. */
uint64_t session_day(const struct session *session, uint64_t time);

/* Which knows the files. */
struct bobbin_unwinder *session_unwinder(const struct session *session);

struct naming *session_naming(const struct session *session);

#endif
