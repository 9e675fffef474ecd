/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * root_code.h - code that has no caller, known by its bytes.
 *
 * A thread's first function is called by code that ends the thread with what it
 * returns; one that makecontext(3) made returns to the first byte of code that goes
 * to the next context.  C libraries without call-frame information for their assembly
 * have no other mark of such roots.
 */
#ifndef BOBBIN_CORE_ROOT_CODE_H
#define BOBBIN_CORE_ROOT_CODE_H

#include <bobbin/arch.h>

/* Code bytes that the functions below want to see. */
#define ROOT_CODE_SIZE 12

/* Whether what is called returns to @code so that its thread, or its fiber, ends. */
bool root_code(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_SIZE]);

/*
 * Whether @code, the first bytes of a program or of a dynamic loader, is written for an
 * initial stack.  True on machines of which it is not known.
 */
bool root_code_entry(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_SIZE]);

#endif
