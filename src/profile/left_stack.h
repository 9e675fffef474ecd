/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * left_stack.h - the outer frames of a thread that has left its stack for another one.
 *
 *	copied: leaf ── … ── call_into_lisp()	left: ── run() ── main() ── __libc_start_call_main() ── …
 *
 * The kernel copies the stack that is in use.  From there its call chain leads along frame records to
 * the one that was left, up to a function that keeps none.  Such a function's frame is found from
 * the record before it.  Nothing has run on the left stack since, so it can be read later on.
 *
 * The thread may have come back meanwhile.  So the records must still have the addresses of the
 * chain, and what follows them is called likely.  To read from a process takes long; so what was found
 * is remembered, and holds while the chain comes to the same record by the same addresses.
 */
#ifndef BOBBIN_PROFILE_LEFT_STACK_H
#define BOBBIN_PROFILE_LEFT_STACK_H

#include <bobbin/unwind.h>

struct left_stacks;

/**
 * struct left_stack - where a trace is to go on
 * @pcs: the kernel's call chain, leaf first
 * @at: the entry that is the trace's last frame
 * @fp: the frame pointer of the leaf
 * @copy: the stack that is in use
 * @program: another number for each process and program that it runs
 */
struct left_stack {
	const uint64_t *pcs;
	uint64_t at, fp;
	const struct bobbin_mem *copy;
	uint64_t program;
};

/*
 * Add the frames to the root to a trace, with the reason LIKELY.  @known: what is remembered, NULL at
 * first, to be freed.  false: the trace is unchanged.
 */
bool left_stack_walk(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		     struct left_stacks **known, const struct left_stack *left,
		     struct bobbin_trace *trace);

#endif
