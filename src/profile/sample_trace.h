/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_trace.h - from a sample's registers and copy of the stack to its trace.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_TRACE_H
#define BOBBIN_PROFILE_SAMPLE_TRACE_H

#include <bobbin/step.h>

#include "profile/process_table.h"

/* The mask to ask the kernel for: all that a rule may name. */
uint64_t sample_regs_mask(const struct bobbin_arch *arch);

/*
 * The leaf's registers; they borrow @gpr.  false: the sample has none that
 * could be unwound (a kernel thread, a 32-bit program).
 */
bool sample_regs(const struct bobbin_arch *arch, const struct perf_sample *sample,
		 uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret);

/*
 * Unwind the user part; @trace as for bobbin_unwind().  Without a frame, and
 * with BOBBIN_REASON_NO_USER, where the sample has no user part: a kernel thread, or a
 * program that is in exec and has no registers of its own yet.  Of a 32-bit program
 * the leaf is all there is.
 */
void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace);

/*
 * A user part that the kernel has walked, with marks and leaf first, as a trace; @trace as there.
 */
void chain_trace(struct bobbin_unwinder *unwinder, struct bobbin_space *space, const uint64_t *pcs,
		 uint64_t count, struct bobbin_trace *trace);

#endif
