/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chain_join.h - the outer part of a trace from the kernel's call chain.
 *
 * The kernel follows frame pointers in live memory, on whatever stack they lead to, and
 * skips what keeps none.  A trace that ended since the next frame is not in the copy of the
 * stack goes on there, from a frame that both have, as long as tables say that the functions keep
 * frame pointers: then the next address of the chain is the return address.
 */
#ifndef BOBBIN_PROFILE_CHAIN_JOIN_H
#define BOBBIN_PROFILE_CHAIN_JOIN_H

#include <bobbin/unwind.h>

#include "profile/perf_event.h"

/* Append to @trace, which left the copy of the stack, and say how it ends now. */
void chain_join(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		const struct perf_sample *sample, struct bobbin_trace *trace);

/*
 * Whether each of the frames has made a frame record, as far as tables know: then a walk by frame
 * pointers has left none of their callers out.
 */
bool chain_keeps_records(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			 const struct bobbin_frame *frames, uint32_t count);

#endif
