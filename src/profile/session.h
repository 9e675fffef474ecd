/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session.h - the samples of a perf.data file, with their call chains, for a sink.
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

struct infer_ops;
struct session;

/* @infer: of inferred rules, or NULL.  Errors as perf_reader_open(). */
int session_open(const char *path, const struct bobbin_unwinder_options *unwind,
		 const struct infer_ops *infer, struct bobbin_error *err, struct session **ret);

void session_close(struct session *session);

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
struct bobbin_unwinder *session_unwinder(const struct session *session);

#endif
