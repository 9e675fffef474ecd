/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/range.h>

#include "core/deps.h"

BOBBIN_API bool bobbin_ranges_hold(const struct bobbin_range *ranges, size_t count, uint64_t start,
				   uint64_t size)
{
	size_t first = 0;

	/* the last one that starts at or before the address */
	while (count) {
		size_t half = count / 2;

		if (ranges[first + half].start <= start) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first && start <= ranges[first - 1].end && size <= ranges[first - 1].end - start;
}
