/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/remote_code.h"

size_t remote_code_behind(const struct remote_code *code, uint64_t addr)
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

const struct remote_range *remote_code_find(const struct remote_code *code, uint64_t addr)
{
	size_t i;

	if (!code)
		return NULL;
	i = remote_code_behind(code, addr);
	return i < code->count && addr >= code->ranges[i].start ? &code->ranges[i] : NULL;
}

struct remote_code *remote_code_share(struct remote_code *code)
{
	if (code)
		code->users++;
	return code;
}

void remote_code_release(struct remote_code *code)
{
	if (code && !--code->users)
		code->close(code);
}
