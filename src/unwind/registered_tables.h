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

/* Whether a range has a table that is of use. */
bool registered_serves(const struct registered_range *range);

/*
 * The row for an address of a range.  false: its table does not know, or there is
 * none.  A malformed table is dropped for good.
 */
bool registered_lookup(const struct bobbin_arch *arch, const struct registered_range *range,
		       uint64_t pc, struct bobbin_row *row, enum bobbin_source *source);

/* The version of its SFrame section; 0: it is another table, or empty. */
unsigned int registered_version(const struct registered_range *range);

/*
 * Each piece of code that the range's table knows, as long as @sink returns 0.  What
 * @sink returned, or -EBADMSG.
 */
int registered_functions(const struct bobbin_arch *arch, const struct registered_range *range,
			 int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/* Why a range's table was dropped; false: it was not. */
bool registered_dropped(const struct registered_range *range, struct bobbin_error *ret);

#endif
