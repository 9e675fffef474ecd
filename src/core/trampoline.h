/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trampoline.h - frames that the kernel makes for signal handlers.
 *
 * A handler returns into a trampoline that calls rt_sigreturn with the stack
 * pointer at the kernel's signal frame.  The frame has all registers of the
 * interrupted code, so its rule follows from the kernel's ABI where libraries
 * have no call-frame information for their trampoline.
 */
#ifndef BOBBIN_CORE_TRAMPOLINE_H
#define BOBBIN_CORE_TRAMPOLINE_H

#include <bobbin/step.h>

/* Code bytes that trampoline_rule() reads. */
#define TRAMPOLINE_SIZE 9

/* Possible starts of a trampoline for one PC. */
#define TRAMPOLINE_STARTS 4

/*
 * Where a trampoline must start for a thread in it to be looked up at @pc; @i: 0 to
 * TRAMPOLINE_STARTS - 1.  A handler returns to the first byte, and is looked up before it.
 * The last instruction is the system call: in the kernel the PC is after it.
 */
uint64_t trampoline_start(const struct bobbin_arch *arch, unsigned int i, uint64_t pc);

/* The rule if @code begins with a trampoline; else false. */
bool trampoline_rule(const struct bobbin_arch *arch, const uint8_t code[TRAMPOLINE_SIZE],
		     struct bobbin_rule *ret);

/* The rule wherever the kernel's signal frame is at the stack pointer. */
void signal_frame_rule(const struct bobbin_arch *arch, struct bobbin_rule *ret);

/*
 * Where the signal frame at @sp has register @i of the code that was interrupted, by DWARF
 * number; false: it has no such register, nor one with a greater number.
 */
bool trampoline_slot(const struct bobbin_arch *arch, unsigned int i, uint64_t sp, uint64_t *ret);

#endif
