/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/table_place.h"

#include <string.h>

#include "table/compiled_table.h"

/* A part of a table, by its place in the map. */
static const uint8_t *placed(const uint8_t *part, const uint8_t *data, uint32_t page)
{
	return (const uint8_t *)((uintptr_t)(part - data) + (uintptr_t)page * KERNEL_PAGE);
}

bool table_place(uint8_t *pages, uint32_t page, const uint8_t *data, uint64_t size,
		 struct compiled_table *ret)
{
	struct compiled_table table;

	if (compiled_table_init(data, size, NULL, &table))
		return false;
	memcpy(pages + (size_t)page * KERNEL_PAGE, data, size);
	table.pairs = placed(table.pairs, data, page);
	table.words = placed(table.words, data, page);
	table.wide = placed(table.wide, data, page);
	table.index = placed(table.index, data, page);
	table.blocks = placed(table.blocks, data, page);
	/* these are user space's alone */
	table.beginners = table.build_id = NULL;
	table.arch = NULL;
	*ret = table;
	return true;
}
