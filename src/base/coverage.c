/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/coverage.h"

#include <stdlib.h>

#include "base/vector.h"
#include "core/bisect.h"

int coverage_add(struct coverage *coverage, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	if (vector_push(coverage->ranges, coverage->count, coverage->capacity,
			(struct bobbin_range){start, end}))
		return -ENOMEM;
	coverage->sorted = false;
	return 0;
}

void coverage_settle(struct coverage *c)
{
	size_t kept = 0;

	if (c->sorted || !c->count)
		return;
	qsort(c->ranges, c->count, sizeof(*c->ranges), vector_by_start);
	for (size_t i = 1; i < c->count; i++) {
		if (c->ranges[i].start > c->ranges[kept].end)
			c->ranges[++kept] = c->ranges[i];
		else if (c->ranges[i].end > c->ranges[kept].end)
			c->ranges[kept].end = c->ranges[i].end;
	}
	c->count = kept + 1;
	c->sorted = true;
}

uint64_t coverage_bytes(struct coverage *coverage)
{
	uint64_t bytes = 0;

	coverage_settle(coverage);
	for (size_t i = 0; i < coverage->count; i++)
		bytes += coverage->ranges[i].end - coverage->ranges[i].start;
	return bytes;
}

/* The first range that ends after @addr. */
static size_t first_after(const struct coverage *c, uint64_t addr)
{
	return bisect(i, 0, c->count, c->ranges[i].end > addr);
}

uint64_t coverage_overlap(struct coverage *a, struct coverage *b)
{
	uint64_t bytes = 0;
	size_t i, k;

	coverage_settle(a);
	coverage_settle(b);
	if (!a->count || !b->count)
		return 0;
	i = first_after(a, b->ranges[0].start);
	k = first_after(b, a->ranges[0].start);
	while (i < a->count && k < b->count) {
		const struct bobbin_range *x = &a->ranges[i], *y = &b->ranges[k];
		uint64_t start = x->start > y->start ? x->start : y->start;
		uint64_t end = x->end < y->end ? x->end : y->end;

		if (start < end)
			bytes += end - start;
		if (x->end < y->end)
			i++;
		else
			k++;
	}
	return bytes;
}

int coverage_gaps(struct coverage *coverage, const struct bobbin_range *within,
		  int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	uint64_t at = within->start;
	int r = 0;

	coverage_settle(coverage);
	for (size_t i = first_after(coverage, at); !r && at < within->end; i++) {
		bool last = i == coverage->count || coverage->ranges[i].start >= within->end;
		uint64_t end = last ? within->end : coverage->ranges[i].start;

		if (at < end)
			r = sink(ctx, at, end);
		at = last ? end : coverage->ranges[i].end;
	}
	return r;
}

void coverage_fini(struct coverage *coverage)
{
	free(coverage->ranges);
	*coverage = (struct coverage){0};
}
