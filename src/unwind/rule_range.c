/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/rule_range.h"

#include "unwind/remote_table.h"
#include "unwind/rule_cache.h"

/* Cut [@start, @end) at what begins or ends in it. */
static void cut_range(uint64_t *start, uint64_t *end, uint64_t low, uint64_t high)
{
	if (low > *start)
		*start = low;
	if (high < *end)
		*end = high;
}

/*
 * The registered code at @addr that has a table; NULL: none, then [@start, @end) is
 * cut to where that holds.
 */
static const struct remote_range *enter_registered(struct bobbin_space *space, uint64_t addr,
						   uint64_t *start, uint64_t *end)
{
	const struct remote_code *code = space->remote;
	size_t i = remote_code_after_again(code, addr, &space->remote_last);
	const struct remote_range *next = i < code->count ? &code->ranges[i] : NULL;

	if (next && addr >= next->start) {
		if (remote_range_serves(next))
			return next;
		cut_range(start, end, next->start, next->end);
		return NULL;
	}
	cut_range(start, end, i ? code->ranges[i - 1].end : 0, next ? next->start : UINT64_MAX);
	return NULL;
}

void rule_range_find(struct bobbin_space *space, uint64_t addr, struct rule_range *ret)
{
	const struct mapping *m = space_find(space, addr);
	const struct remote_range *range = NULL;
	uint64_t start = m ? m->start : 0, end = m ? m->end : UINT64_MAX, key = 0;

	if (space->remote)
		range = enter_registered(space, addr, &start, &end);
	ret->size = 0;
	if (range) {
		start = range->start;
		end = range->end;
		key = remote_rule_key(range->place);
	} else if (m && m->file->kind != FILE_NONE) {
		key = rule_cache_key(m->file->number, m->offset + (start - m->start));
		if (key && (m->offset + (end - m->start)) >> KEY_FILE)
			key = 0;
	}
	if (key || (m && m->file->kind == FILE_NONE && !range))
		*ret = (struct rule_range){start, end - start, key};
}
