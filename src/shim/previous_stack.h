/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * previous_stack.h - the stack that a thread has left for the one that it is on.
 *
 * Handlers of signals may have a stack of their own; the kernel has put the interrupted registers
 * there.  Go calls C, and its own allocator and collector, on the stack of the thread: what a goroutine
 * is then is in its runtime's structures g and m, and where the stack was left in two words of
 * asmcgocall()'s.  Layout: the kernel's uapi asm/sigcontext.h, and Go's src/runtime/runtime2.go and
 * asm_amd64.s, the same from 1.18 to 1.27 at least.
 *
 * Nothing of that is believed before it agrees with what it leads to.
 */
#ifndef BOBBIN_SHIM_PREVIOUS_STACK_H
#define BOBBIN_SHIM_PREVIOUS_STACK_H

#include "unwind/self_memory.h"

/**
 * struct previous_stack - where a stack was left
 * @sp: its stack pointer
 * @size: bytes in use, at most; 0: there is none
 * @pc: where its code goes on, if walks cannot come there otherwise; or 0
 * @interrupted: bytes of the stack in use up to the interrupted registers; 0: it was not left by a signal
 * @r14: if it was, one of them
 */
struct previous_stack {
	uint64_t sp, size, pc, interrupted, r14;
};

/* Look for Go among what is loaded.  Takes the loader's lock. */
void previous_stack_begin(void);

/*
 * That of a thread with the stack pointer @sp and the register R14 @r14, of whose stack @data are
 * @size bytes; @own: it is the one that the thread was started with.  Async-signal-safe.
 */
struct previous_stack previous_stack_find(struct self_memory *memory, uint64_t sp, uint64_t r14,
					  bool own, const void *data, size_t size);

#endif
