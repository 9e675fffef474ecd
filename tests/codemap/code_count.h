/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* code_count.h - how many ranges a code map has, those that cross 4 GiB once for each. */
#ifndef BOBBIN_TESTS_CODEMAP_CODE_COUNT_H
#define BOBBIN_TESTS_CODEMAP_CODE_COUNT_H

#include "codemap/code_map.h"

static inline size_t code_count(const struct code_map *map)
{
	struct code_range range = {0};
	size_t count = 0;

	for (; code_map_next(map, range.end, &range); count++)
		if (!range.end)
			return count + 1;
	return count;
}

#endif
