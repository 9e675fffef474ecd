/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * restorer.h - the code that signal handlers return to, sa_restorer of sigaction(2).
 *
 * It is known by what it does, not by its bytes: C libraries, language run times and old
 * programs each have their own.
 */
#ifndef BOBBIN_CORE_RESTORER_H
#define BOBBIN_CORE_RESTORER_H

#include <bobbin/arch.h>

/* Code that restorer_find() looks at: bytes before the address, and all; what cannot be read is 0. */
#define RESTORER_BEFORE 16
#define RESTORER_SIZE 48
#define RESTORER_NONE 2

/*
 * Where the restorer begins that an instruction at code[RESTORER_BEFORE] is of, or the next
 * one, or that ends there: in the kernel the PC is after the system call.  Bytes from there, at
 * most 1; RESTORER_NONE: there is none.  It is known by what it does: whatever sets the number
 * of rt_sigreturn and calls the kernel.
 */
int restorer_find(const struct bobbin_arch *arch, const uint8_t code[RESTORER_SIZE]);

/* Whether a restorer that was found, from its start on, calls sigreturn instead of rt_sigreturn. */
bool restorer_is_plain(const struct bobbin_arch *arch, const uint8_t *code);

#endif
