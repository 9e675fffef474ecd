/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * loader_link.h - what the dynamic loader says of an address, in any context.
 *
 * glibc since 2.35 has _dl_find_object(), which is async-signal-safe and takes no
 * lock.  Elsewhere nothing is known.
 */
#ifndef BOBBIN_UNWIND_LOADER_LINK_H
#define BOBBIN_UNWIND_LOADER_LINK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * @map: the loader's struct link_map; @start, @end: all that the object has mapped; @eh_frame: its
 * .eh_frame_hdr.
 */
struct loader_link {
	const void *map, *start, *end, *eh_frame;
};

static inline bool loader_link_same(const struct loader_link *a, const struct loader_link *b)
{
	return a->map == b->map && a->start == b->start && a->end == b->end &&
	       a->eh_frame == b->eh_frame;
}

/* Whether loader_link_find() can tell. */
bool loader_link_usable(void);

/* The object with an address; false: there is none. */
bool loader_link_find(uint64_t addr, struct loader_link *ret);

#endif
