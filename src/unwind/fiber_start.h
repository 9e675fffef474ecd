/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fiber_start.h - where functions of makecontext(3) return to.
 *
 * The C library makes that up: it is the first byte of a function that nobody has
 * called from there, so the byte before it, where return addresses are looked up,
 * belongs to nothing.  A chain ends there.
 */
#ifndef BOBBIN_UNWIND_FIBER_START_H
#define BOBBIN_UNWIND_FIBER_START_H

#include <bobbin/types.h>

/* The address, by what makecontext(3) puts into a context; 0: there is none. */
uint64_t fiber_start(void);

#endif
