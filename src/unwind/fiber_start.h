/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fiber_start.h - the function below all fibers of makecontext(3).
 */
#ifndef BOBBIN_UNWIND_FIBER_START_H
#define BOBBIN_UNWIND_FIBER_START_H

#include <stdint.h>

/*
 * The address after that to which functions of makecontext(3) return, by what it puts into a context;
 * 0: there is none.
 * The C library makes that up: it is the first byte of a function that nobody has called from
 * there, so the byte before it, where return addresses are looked up, belongs to nothing.
 */
uint64_t after_fiber_start(void);

#endif
