/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/answer_ranges.h"

#include <search.h>
#include <stdlib.h>

/* Of one file; each address beyond is asked for. */
#define COUNT_MAX ((size_t)1 << 20)
/* What the C library keeps for each. */
#define NODE_SIZE 48

struct answer_range {
	struct offset_range range; /* first: it is what is searched for */
	int count;
	struct symbol symbols[]; /* @offset: what the file's offset 0 would have */
};

/* What overlaps is the same: there are no two such. */
static int compare(const void *left, const void *right)
{
	const struct offset_range *a = left, *b = right;

	if (a->end <= b->first)
		return -1;
	return a->first >= b->end;
}

void answer_ranges_add(struct answer_ranges *ranges, const struct offset_range *holds,
		       uint64_t offset, const struct symbol *symbols, int count)
{
	size_t size = sizeof(struct answer_range) + (size_t)count * sizeof(*symbols);
	struct answer_range *range = ranges->count < COUNT_MAX ? malloc(size) : NULL, **found;

	if (!range)
		return;
	range->range = *holds;
	range->count = count;
	for (int i = 0; i < count; i++) {
		range->symbols[i] = symbols[i];
		range->symbols[i].offset -= offset;
	}
	found = tsearch(range, &ranges->tree, compare);
	if (!found || *found != range) {
		free(range);
		return;
	}
	ranges->count++;
	ranges->memory += size + NODE_SIZE;
}

bool answer_ranges_find(const struct answer_ranges *ranges, uint64_t offset, struct symbol *ret,
			size_t max, int *count)
{
	const struct offset_range at = {offset, offset + 1};
	struct answer_range **found = tfind(&at, &ranges->tree, compare);

	if (!found || offset == UINT64_MAX)
		return false;
	*count = (*found)->count;
	for (int i = 0; i < *count && (size_t)i < max; i++) {
		ret[i] = (*found)->symbols[i];
		ret[i].offset += offset;
	}
	return true;
}

size_t answer_ranges_memory(const struct answer_ranges *ranges)
{
	return ranges->memory;
}

void answer_ranges_fini(struct answer_ranges *ranges)
{
	tdestroy(ranges->tree, free);
	*ranges = (struct answer_ranges){0};
}
