/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_update.h - what unwinds the code that another process registered.
 *
 *	published page ──────┬► ranges in the space ─► sections, copied once
 *	GDB's JIT interface ─┘                       └► JIT tables, read when asked
 *
 * A section is copied when the registration is first seen; a JIT table grows, so
 * it is read in the process's memory for each address that is not cached.  The page
 * and mapped files take precedence over what debuggers are told.
 */
#ifndef BOBBIN_UNWIND_REMOTE_UPDATE_H
#define BOBBIN_UNWIND_REMOTE_UPDATE_H

#include <bobbin/unwind.h>

#include "unwind/remote_code.h"

/* Bytes of sections that are copied from one process, at most. */
#define REMOTE_MAX_BYTES (256u << 20)

/* Bytes kept of all processes. */
#define REMOTE_ALL_BYTES ((uint64_t)512 << 20)

/* Where a process describes its code. */
#define REMOTE_PAGE 1u
#define REMOTE_IMAGES 2u
#define REMOTE_SOURCES (REMOTE_PAGE | REMOTE_IMAGES)

/*
 * Read what some @sources of a process say now.  A forked child's space shares its parent's
 * code as long as the child's page is the parent's.  1: something has changed; 0: nothing;
 * -ENOENT: the process describes no code; other errnos of page_copy_update() and
 * debugger_images_update().
 */
int remote_code_update(struct bobbin_space *space, int pid, unsigned int sources,
		       struct remote_room *room);

/* Pieces of code that an unwinder had no room for. */
uint64_t unwinder_left_out(const struct bobbin_unwinder *unwinder);

/* remote_code_update() for a space of an unwinder. */
int unwinder_update_code(struct bobbin_unwinder *unwinder, struct bobbin_space *space, int pid,
			 unsigned int sources);

#endif
