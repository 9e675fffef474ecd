/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_top.h - a return address of 0 at the top of a stack that is a whole mapping.
 *
 *	sp ── frame of the first function ── 0 ── a few words ── end of the mapping
 *
 * Libraries of coroutines map stacks, and begin each with such a word: Ruby's fibers, valgrind's
 * threads.  A zero is no evidence by itself.  But a caller's return address would be above the stack
 * pointer, and the mapping ends there: if no word of it may be one, nobody has called.
 */
#ifndef BOBBIN_CORE_STACK_TOP_H
#define BOBBIN_CORE_STACK_TOP_H

/* From the zero on to the end of the mapping; of the frame and these, at most. */
#define TOP_SIZE 64
#define TOP_FRAME 4096

#endif
