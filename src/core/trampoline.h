/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trampoline.h - frames that the kernel makes for signal handlers.
 *
 * A handler returns into a trampoline that calls rt_sigreturn with the stack
 * pointer at the kernel's signal frame.  The frame has all registers of the
 * interrupted code, so its rule follows from the kernel's ABI where libraries
 * have no call-frame information for their trampoline.  On s390x a handler without
 * SA_SIGINFO has a plain frame, for sigreturn.
 */
#ifndef BOBBIN_CORE_TRAMPOLINE_H
#define BOBBIN_CORE_TRAMPOLINE_H

#include <bobbin/step.h>

/* Where a plain frame of s390x has what the other one has so many bytes later. */
#define PLAIN_FRAME_BEFORE 160
#define S390X_PLAIN_SP 312

/* The rule wherever the kernel's signal frame is at the stack pointer. */
void signal_frame_rule(const struct bobbin_arch *arch, struct bobbin_rule *ret);

/* The same of a plain one. */
void plain_frame_rule(const struct bobbin_arch *arch, struct bobbin_rule *ret);

/* Where trampoline_slot() finds the frame of such a rule, if the stack pointer is @sp. */
static inline uint64_t signal_frame_at(const struct bobbin_arch *arch,
				       const struct bobbin_rule *rule, uint64_t sp)
{
	return arch->cfa_bias && rule->cfa.off == S390X_PLAIN_SP ? sp - PLAIN_FRAME_BEFORE : sp;
}

/*
 * Where the signal frame at @sp has register @i of the code that was interrupted, by DWARF
 * number; false: it has no such register, nor one with a greater number.
 */
bool trampoline_slot(const struct bobbin_arch *arch, unsigned int i, uint64_t sp, uint64_t *ret);

#endif
