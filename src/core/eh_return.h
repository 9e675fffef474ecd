/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eh_return.h - the end of functions that put a handler's frame in the place of theirs.
 *
 *	call uw_install_context	    over the registers that the function has saved
 *	call _Unwind_DebugHook
 *	…			    restores them, which are the handler's now
 *	mov %rcx, %rsp; pop %rcx; jmp *%rcx
 *
 * gcc makes these of __builtin_eh_return(), in libgcc's _Unwind_Resume() and its like.
 * From the first call on neither the caller nor the handler follow from the function's
 * call-frame information, which goes on as if nothing had been overwritten.
 */
#ifndef BOBBIN_CORE_EH_RETURN_H
#define BOBBIN_CORE_EH_RETURN_H

#include <bobbin/arch.h>

/*
 * Bytes that eh_return_code() reads: before the address in question, and in all.  gcc 14 needs 213
 * in _Unwind_ForcedUnwind(), where it unrolls a loop that takes frames off the shadow stack.
 */
#define EH_RETURN_BEFORE 6
#define EH_RETURN_SIZE 240

/* Whether the address EH_RETURN_BEFORE bytes into @code lies in such an end. */
bool eh_return_code(const struct bobbin_arch *arch, const uint8_t code[EH_RETURN_SIZE]);

/* Whether call-frame information may describe such an end; other bytes can look like one. */
bool eh_return_possible(const uint8_t *frames, size_t size);

#endif
