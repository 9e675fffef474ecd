/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/registered_code.h"

size_t registered_behind(const struct registered_code *code, uint64_t addr)
{
	size_t lo = 0, hi = code->count;

	if (hi && addr >= code->ranges[hi - 1].end)
		return hi;
	if (hi && addr < code->ranges[0].end)
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (code->ranges[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct registered_range *registered_find(const struct registered_code *code, uint64_t addr)
{
	size_t i;

	if (!code)
		return NULL;
	i = registered_behind(code, addr);
	return i < code->count && addr >= code->ranges[i].start ? &code->ranges[i] : NULL;
}

struct registered_code *registered_share(struct registered_code *code)
{
	if (code)
		code->users++;
	return code;
}

void registered_release(struct registered_code *code)
{
	if (code && !--code->users)
		code->close(code);
}
