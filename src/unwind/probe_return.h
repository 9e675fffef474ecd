/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe_return.h - where a walk comes to a function whose return is probed.
 *
 * The kernel has put the address of its page "[uprobes]" in the place of the return address, and keeps
 * that one for itself.
 */
#ifndef BOBBIN_UNWIND_PROBE_RETURN_H
#define BOBBIN_UNWIND_PROBE_RETURN_H

#include "unwind/space.h"

/* What is used of the page. */
#define PROBE_CODE_SIZE 4096

/* The page is no caller, but may be where a thread is; what a walk finds after it is guessed. */
static inline void end_at_probe_return(const struct bobbin_space *space, struct bobbin_trace *trace)
{
	for (uint32_t i = 0; space->maps.probes && i < trace->count; i++) {
		uint64_t offset = trace->frames[i].pc - space->maps.probes;
		bool exact = trace->frames[i].exact;

		if (exact ? offset >= PROBE_CODE_SIZE : offset)
			continue;
		if (trace->left_out && i <= trace->count - trace->outer)
			trace->left_out = 0;
		trace->count = exact ? i + 1 : i;
		trace->reason = BOBBIN_REASON_PROBED;
	}
}

#endif
