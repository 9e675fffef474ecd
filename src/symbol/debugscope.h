/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debugscope.h - functions and the calls that were inlined into them, as DIEs.
 *
 * A budget counts DIEs, ranges and attributes down, so that walks end.
 */
#ifndef BOBBIN_SYMBOL_DEBUGSCOPE_H
#define BOBBIN_SYMBOL_DEBUGSCOPE_H

#include "symbol/interval.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero before the first call. */
struct scope_range {
	Dwarf_Addr base, start, end;
	ptrdiff_t next; /* private */
};

/* The next range of a DIE that is not empty; false if there are no more. */
bool scope_next_range(Dwarf_Die *die, struct scope_range *range, uint64_t *budget);

/* libdw looks at all attributes of a DIE to pass it: there must not be very many. */
bool scope_unit_is_sane(Dwarf_Die *unit, uint64_t *budget);

/* Call @fn for each function of a unit until it fails.  Returns what it did. */
int scope_walk_functions(Dwarf_Die *unit, uint64_t *budget, int (*fn)(void *ctx, Dwarf_Die *die),
			 void *ctx);

/*
 * Write @function and the inlined calls around @address in it, outermost first,
 * at most @max, which is above 0.  @same is cut to the addresses of which the same is true.
 * Returns their number.
 */
size_t scope_find(Dwarf_Die *function, uint64_t address, Dwarf_Die *ret, size_t max,
		  struct interval_gap *same);

/* The linkage name or else the name of a function or call, or NULL. */
const char *scope_name(Dwarf_Die *die);

#endif
