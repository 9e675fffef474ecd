/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_update.h - what unwinds the code that another process registered.
 *
 *	published page ──────┬► ranges in the space ─► sections, copied once
 *	GDB's JIT interface ─┘                       └► JIT tables, read when asked
 *
 * A section is copied when the registration is first seen; a JIT table grows, so
 * it is read in the process's memory for each address that is not cached.  What is
 * published counts more than what debuggers are told; so do files that are mapped.
 */
#ifndef BOBBIN_UNWIND_REMOTE_UPDATE_H
#define BOBBIN_UNWIND_REMOTE_UPDATE_H

#include <bobbin/unwind.h>

#include "unwind/remote_code.h"

/* Bytes of sections that are copied from one process, at most. */
#define REMOTE_MAX_BYTES (256u << 20)

/* Memory of all that all processes tell. */
#define REMOTE_ALL_BYTES ((uint64_t)512 << 20)

/* Doors through which a process tells of code. */
#define REMOTE_PAGE 1u
#define REMOTE_IMAGES 2u
#define REMOTE_DOORS (REMOTE_PAGE | REMOTE_IMAGES)

/*
 * Make a space know what the process says now, through some @doors.  A forked child's space
 * shares what its parent's knows for as long as the child's page is the parent's.  1; 0:
 * nothing new; -ENOENT: the process says nothing; other errnos of page_copy_update() and
 * debugger_images_update().
 */
int remote_code_update(struct bobbin_space *space, int pid, unsigned int doors,
		       struct remote_room *room);

/* Registered tables that were dropped so far: as long as the number stays, those that serve do. */
uint64_t unwinder_drops(const struct bobbin_unwinder *unwinder);

/* Pieces of code that an unwinder had no room for. */
uint64_t unwinder_left_out(const struct bobbin_unwinder *unwinder);

/* The same for a space of an unwinder. */
int unwinder_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid,
			 unsigned int doors);

#endif
