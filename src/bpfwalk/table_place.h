/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_place.h - where in the map of pages a compiled table is.
 */
#ifndef BOBBIN_BPFWALK_TABLE_PLACE_H
#define BOBBIN_BPFWALK_TABLE_PLACE_H

#include "bpfwalk/bpf_abi.h"

/* Pages that a table of so many bytes takes. */
static inline uint64_t table_pages(uint64_t size)
{
	return (size + KERNEL_PAGE - 1) / KERNEL_PAGE;
}

/*
 * Copy a table to @pages, the memory of the map, from a page on; @ret: as the program in the
 * kernel finds it.  false: it is not a table.
 */
bool table_place(uint8_t *pages, uint32_t page, const uint8_t *data, uint64_t size,
		 struct compiled_table *ret);

#endif
