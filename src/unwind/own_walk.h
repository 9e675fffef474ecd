/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_walk.h - the walker over the own stack and a code map.
 *
 * Everything here is async-signal-safe: no lock, no allocation, no C library, and
 * what is written is the walk's and its slot's, but for the mark of a malformed table.
 */
#ifndef BOBBIN_UNWIND_OWN_WALK_H
#define BOBBIN_UNWIND_OWN_WALK_H

#include <bobbin/unwind.h>

#include "unwind/own_code.h"

/* What walks of the own process know now.  Async-signal-safe. */
struct own_code read_own_code(void);

/*
 * Walk from @regs.  @caller: of that frame, with which the trace begins; with a PC of 0, where
 * it is for the walk to find; NULL: the trace begins with @regs.  true: the loader knows more
 * of the code than the map does, as far as it can tell.
 */
bool walk_own_stack(const struct own_code *code, const struct bobbin_regs *regs,
		    const struct bobbin_regs *caller, struct bobbin_trace *trace);

#endif
