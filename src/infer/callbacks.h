/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * callbacks.h - functions that are called by their address.
 *
 *	lea worker(%rip), %rdx; call pthread_create	an argument of a call
 *	lea mains(%rip), %rax; call *(%rax,%rbp,8)	an entry of a table that a call chooses from
 *
 * Code may compute the address of a label, too, for its own jumps.  But what it hands to a function,
 * or calls, is entered by a call, with the return address on top of the stack.  That is all that a
 * return proves elsewhere, and many such functions never return.
 */
#ifndef BOBBIN_INFER_CALLBACKS_H
#define BOBBIN_INFER_CALLBACKS_H

#include "infer/frame_state.h"
#include "infer/program_code.h"

/* Mark what an instruction, in the state before it, calls so, or hands on. */
void callbacks_note(struct program *program, const struct insn *insn,
		    const struct frame_state *state);

#endif
