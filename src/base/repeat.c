/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/repeat.h"

bool repeat_find(bool (*same)(const void *ctx, size_t a, size_t b), const void *ctx, size_t at,
		 size_t end, struct repeat *ret)
{
	size_t most = 0;

	for (size_t period = 1; period <= REPEAT_MAX_PERIOD && at + 2 * period <= end; period++) {
		size_t next = at + period, again;

		while (next < end && same(ctx, next - period, next))
			next++;
		again = (next - at) / period - 1;
		if (again * period <= most)
			continue;
		most = again * period;
		*ret = (struct repeat){period, again + 1};
	}
	return most;
}
