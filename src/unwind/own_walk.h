/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_walk.h - the walker over the own stack and a code map.
 *
 * Everything here is async-signal-safe: no lock, no allocation, no C library, and
 * what is written is the walk's, but for the mark of a malformed table.
 */
#ifndef BOBBIN_UNWIND_OWN_WALK_H
#define BOBBIN_UNWIND_OWN_WALK_H

#include <bobbin/unwind.h>

#include "codemap/registry.h"

/* What walks know of the process. */
struct own_code {
	struct registry *registry;       /* NULL: nothing */
	uint64_t fiber_start, fiber_end; /* the function below all fibers, or 0 and 0 */
};

/*
 * Walk from @regs; the first @skip frames are not part of the trace.  true: the
 * loader knows more of the code than the map does, as far as it can tell.
 */
bool own_walk(const struct own_code *code, const struct bobbin_regs *regs, uint32_t skip,
	      struct bobbin_trace *trace);

#endif
