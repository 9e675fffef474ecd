/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_end.h - where a function of unknown size seems to end, by its code.
 */
#ifndef BOBBIN_SYMBOL_CODE_END_H
#define BOBBIN_SYMBOL_CODE_END_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes from @address to the first return after which nothing but padding
 * comes before a multiple of 16, where the next function may begin; at most @size.
 * For x86-64, where assemblers that give symbols no size are in use; elsewhere, and
 * where the code cannot be read, @size.
 *
 * It is a guess to the safe side: a function with a return before an aligned
 * loop is cut there.
 */
uint64_t code_end(Elf *elf, uint64_t address, uint64_t size);

#endif
