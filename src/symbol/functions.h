/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * functions.h - the functions of a file by its symbol tables.
 *
 * Of several symbols for the same range one stays: global before weak before
 * local, functions before bare labels, then without an old version, then fewer leading
 * underscores, then the first in the alphabet.  No symbol reaches beyond its section.
 *
 * The end of a symbol without size is guessed: it reaches to the next symbol or
 * the end of its section, and gives way to a sized one around it.  Without
 * .symtab hidden functions may follow: where that would be more than 4 KiB, it ends
 * where code_end() sees an end, or after 4 KiB.  Whoever knows where functions begin
 * cuts it there, too.
 */
#ifndef BOBBIN_SYMBOL_FUNCTIONS_H
#define BOBBIN_SYMBOL_FUNCTIONS_H

#include "symbol/interval.h"

#include <libelf.h>

/* On the value of an item: a PLT stub for the function with this name. */
#define FUNCTION_STUB (1ull << 63)

/* On the value of an item: its size is a guess. */
#define FUNCTION_GUESSED (1ull << 62)

/*
 * Read .symtab of @main or else of @debug, or else .dynsym and .gnu_debugdata;
 * one of the two may be NULL.  Tables of more than @limit bytes are left out.
 * Returns 0, -ENOMEM.
 */
int functions_read(Elf *main, Elf *debug, size_t limit, struct symlist *ret);

/* The name as symbol tables spell it, cut to @size bytes. */
void function_name(const struct symlist *l, const struct interval *function, char *dst,
		   size_t size);

/*
 * plt.c: name the PLT stubs of @elf by their relocations (x86-64, AArch64).
 * Returns 0, -ENOMEM.
 */
int functions_add_stubs(Elf *elf, size_t limit, struct symlist *l);

#endif
