/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * root_code.h - code that has no caller, known by its bytes.
 *
 * The caller of a thread's first function ends the thread with its result.  A function
 * started by makecontext(3) returns to the first byte of code that switches to the next
 * context, one started by boost's make_fcontext() to code behind the jump that started it.  Where
 * a library has no call-frame information for its assembly, nothing else marks such roots.
 */
#ifndef BOBBIN_CORE_ROOT_CODE_H
#define BOBBIN_CORE_ROOT_CODE_H

#include <bobbin/arch.h>

/* Code bytes from an address on that the functions below read, and those before it. */
#define ROOT_CODE_SIZE 12
#define ROOT_CODE_BEFORE 3
#define ROOT_CODE_AROUND (ROOT_CODE_BEFORE + ROOT_CODE_SIZE)

/* Whether a function that returns to what is ROOT_CODE_BEFORE into @code ends its thread or fiber. */
bool root_code(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_AROUND]);

/*
 * Whether @code, the first bytes of a program or of a dynamic loader, is written for an
 * initial stack.  True for architectures where this is not known.
 */
bool root_code_entry(const struct bobbin_arch *arch, const uint8_t code[ROOT_CODE_SIZE]);

#endif
