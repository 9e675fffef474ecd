/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registered_tables.h - what unwinds the code that another process registered.
 *
 *	published page ─► ranges in the space ─► sections, copied once
 *	                                       └► JIT tables, read when asked
 *
 * A section is copied when the registration is first seen; a JIT table grows, so
 * it is read in the process's memory for each address that is not cached.
 */
#ifndef BOBBIN_UNWIND_REGISTERED_TABLES_H
#define BOBBIN_UNWIND_REGISTERED_TABLES_H

#include <bobbin/unwind.h>

#include "target/space.h"
#include "unwind/foreign_table.h"

/* Bytes of sections that are copied from one process, at most. */
#define REGISTERED_MAX_BYTES (256u << 20)

/* struct registered_range.place of what has none. */
#define REGISTERED_NOWHERE UINT64_MAX

/*
 * Make a space know what the process says now.  @next_place: where the next range
 * goes among all that were ever registered.  1, 0: nothing new, or a negative
 * errno as published_code_update().
 */
int registered_tables_update(struct bobbin_space *space, int pid, uint64_t *next_place);

#endif
