/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entry_code.h - how far the first code of a program reaches, where no table knows.
 */
#ifndef BOBBIN_CORE_ENTRY_CODE_H
#define BOBBIN_CORE_ENTRY_CODE_H

#include <bobbin/arch.h>

/* It clears the frame pointer and calls into C, in no more bytes than these. */
#define ENTRY_CODE_SIZE 80
/* What entry_code_size() reads. */
#define ENTRY_CODE_READ (ENTRY_CODE_SIZE + 16)

/*
 * Bytes of the first code, at most ENTRY_CODE_SIZE.  It ends after an instruction that does not
 * go on, or where a function begins that it calls; @code: from the entry on, what cannot be read
 * is 0.
 */
unsigned int entry_code_size(const struct bobbin_arch *arch, const uint8_t code[ENTRY_CODE_READ]);

#endif
