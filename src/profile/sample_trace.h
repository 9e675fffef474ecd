/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_trace.h - from a sample's registers and copy of the stack to its trace.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_TRACE_H
#define BOBBIN_PROFILE_SAMPLE_TRACE_H

#include "profile/process_table.h"

/*
 * Unwind the user part; @trace as for bobbin_unwind().  Without a frame, and
 * with BOBBIN_REASON_NO_USER, where the sample has no user part: a kernel thread, or a
 * program that is in exec and has no registers of its own yet.  Of a 32-bit program
 * the leaf is all there is.
 */
void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace);

#endif
