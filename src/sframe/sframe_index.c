/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_index.c - where in a sorted FDE table to search.
 *
 *	piece     │ 0        │ 1        │ 2        │ 3        │ 4   │
 *	function  0     1  2      3                   4  5 6     7
 *	bucket    0          2          3          3          6     7
 *
 * A PC of piece 3 is in one of the functions 3 to 6: of those between its
 * bucket and the next, both included.
 */
#include "sframe/layout.h"

/* An index does not speed up the search among fewer functions. */
#define MIN_FUNCTIONS 16

/* From the section to a function, as long as a search cannot wrap around. */
#define MAX_DISTANCE ((int64_t)1 << 62)

#define MIN_BUCKETS 3
#define MAX_BUCKETS ((1u << 30) + 1)

BOBBIN_API uint32_t bobbin_sframe_index_count(const struct bobbin_sframe_view *view)
{
	uint32_t pieces = MIN_FUNCTIONS / 4;

	if (!view->sorted || view->num_fdes < MIN_FUNCTIONS)
		return 0;
	while (pieces < view->num_fdes / 4)
		pieces *= 2;
	return pieces + 1;
}

static uint64_t start_of(const struct bobbin_sframe_view *view, uint32_t i)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);

	return sframe_fde_start(&fdes, view->fde_off + (uint64_t)i * view->fde_size);
}

/* Bytes from the first start to the last; false: they do not ascend or are absurd. */
static bool measure(const struct bobbin_sframe_view *view, uint64_t *ret)
{
	int64_t first = (int64_t)(start_of(view, 0) - view->addr);
	int64_t last = (int64_t)(start_of(view, view->num_fdes - 1) - view->addr);

	if (first < -MAX_DISTANCE || last > MAX_DISTANCE || first > last)
		return false;
	*ret = (uint64_t)last - (uint64_t)first;
	return true;
}

/* The smallest pieces of which there are enough buckets. */
static struct bobbin_sframe_index divide(uint64_t first, uint64_t span, uint32_t count)
{
	struct bobbin_sframe_index index = {.first = first};

	while (span >> index.shift >= count - 1)
		index.shift++;
	index.last = (uint32_t)(span >> index.shift);
	return index;
}

/* Each function in the bucket of the next piece.  false: they do not ascend. */
static bool drop_functions(const struct bobbin_sframe_view *view,
			   const struct bobbin_sframe_index *index, uint64_t span,
			   uint32_t *buckets)
{
	const uint64_t round_up = ((uint64_t)1 << index->shift) - 1;
	uint64_t before = 0;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t offset = start_of(view, i) - index->first;

		if (offset < before || offset > span)
			return false;
		buckets[(offset + round_up) >> index->shift] = i;
		before = offset;
	}
	return true;
}

static bool fill(const struct bobbin_sframe_view *view, const struct bobbin_sframe_index *index,
		 uint64_t span, uint32_t *buckets)
{
	for (uint32_t i = 0; i <= index->last + 1; i++)
		buckets[i] = 0;
	if (!drop_functions(view, index, span, buckets))
		return false;
	for (uint32_t i = 1; i <= index->last + 1; i++)
		buckets[i] = buckets[i] ? buckets[i] : buckets[i - 1];
	return true;
}

BOBBIN_API int bobbin_sframe_view_index(struct bobbin_sframe_view *view, uint32_t *buckets,
					uint32_t count)
{
	struct bobbin_sframe_index index;
	uint64_t span;

	if (!view->sorted || !view->num_fdes || count < MIN_BUCKETS || count > MAX_BUCKETS)
		return -BOBBIN_EINVAL;
	if (!measure(view, &span))
		return -BOBBIN_EINVAL;
	index = divide(start_of(view, 0), span, count);
	if (!fill(view, &index, span, buckets))
		return -BOBBIN_EINVAL;
	index.buckets = buckets;
	view->index = index;
	return 0;
}
