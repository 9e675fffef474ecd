/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/range.h>

#include "core/bisect.h"
#include "core/deps.h"

BOBBIN_API bool bobbin_ranges_hold(const struct bobbin_range *ranges, size_t count, uint64_t start,
				   uint64_t size)
{
	/* one more than the last one that starts at or before the address */
	size_t first = bisect(i, 0, count, ranges[i].start > start);

	return first && start <= ranges[first - 1].end && size <= ranges[first - 1].end - start;
}
