/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_walk.h - the walker over the own stack and the loaded objects, without a code map.
 *
 * All but object_walk_prepare() is async-signal-safe and wait-free: no lock, no allocation, and of
 * the C library nothing but the loader's _dl_find_object().
 */
#ifndef BOBBIN_UNWIND_OBJECT_WALK_H
#define BOBBIN_UNWIND_OBJECT_WALK_H

#include <bobbin/unwind.h>

/**
 * struct walk_place - where a walk has come to
 * @regs: of the frame that is next
 * @callee: source of the frame before it
 * @likely: that was a guess, or one before it
 */
struct walk_place {
	struct bobbin_regs regs;
	uint8_t callee;
	bool likely;
};

/* Learn what stays, see process_objects_learn(), and prepare to remember.  Not in a signal handler. */
void object_walk_prepare(void);

/*
 * Walk up to @trace->max frames from @place on, or from its caller, as walk_own_stack() does.  If
 * the trace ends with BOBBIN_REASON_DEPTH, @place is where the next walk goes on.
 */
void bobbin_object_walk(struct walk_place *place, const struct bobbin_regs *caller,
			struct bobbin_trace *trace);

/* A register of a frame by its DWARF number: the stack or the frame pointer; others are 0. */
uint64_t bobbin_frame_register(const struct bobbin_regs *regs, int number);

/* Where the function of the code of a frame begins, see process_tables(); 0: no table knows. */
uint64_t bobbin_process_function(uint64_t pc);

#endif
