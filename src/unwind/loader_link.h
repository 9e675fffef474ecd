/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader_link.h - what the dynamic loader says of an address, in any context.
 *
 * glibc since 2.35 has _dl_find_object(), which is async-signal-safe and takes no
 * lock.  Elsewhere nothing is known.
 */
#ifndef BOBBIN_UNWIND_LOADER_LINK_H
#define BOBBIN_UNWIND_LOADER_LINK_H

#include <bobbin/types.h>

struct loader_link {
	const void *map, *start, *eh_frame;
};

/* Whether loader_link_find() can tell. */
bool loader_link_usable(void);

/* The object with an address; false: there is none. */
bool loader_link_find(uint64_t addr, struct loader_link *ret);

#endif
