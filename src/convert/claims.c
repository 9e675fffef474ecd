/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/claims.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/**
 * struct sweep - a pass over ascending addresses
 * @claims: as given
 * @order: their indices, by start
 * @count: of @order
 * @heap: indices of the claims that have begun, the lowest first
 * @heap_count: their number
 * @pieces, @piece_count: the result so far
 */
struct sweep {
	struct claim *claims;
	uint32_t *order, *heap;
	uint32_t count, heap_count;
	struct claim *pieces;
	size_t piece_count;
};

static void heap_push(struct sweep *s, uint32_t claim)
{
	uint32_t at = s->heap_count++;

	for (; at && s->heap[(at - 1) / 2] > claim; at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = claim;
}

static void heap_pop(struct sweep *s)
{
	uint32_t last = s->heap[--s->heap_count];
	uint64_t at = 0, child;

	while ((child = 2 * at + 1) < s->heap_count) {
		if (child + 1 < s->heap_count && s->heap[child + 1] < s->heap[child])
			child++;
		if (s->heap[child] >= last)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
}

static bool continues(const struct claim *last, uint64_t start, const struct claim *owner)
{
	return last->end == start && last->view == owner->view && last->index == owner->index;
}

static void give(struct sweep *s, uint64_t start, uint64_t end, const struct claim *owner)
{
	if (s->piece_count && continues(&s->pieces[s->piece_count - 1], start, owner))
		s->pieces[s->piece_count - 1].end = end;
	else
		s->pieces[s->piece_count++] = (struct claim){start, end, owner->view, owner->index};
}

/* Up to the next start or the owner's end the owner stays the same. */
static void run(struct sweep *s)
{
	uint32_t next = 0;
	uint64_t pos = 0;

	while (next < s->count || s->heap_count) {
		uint64_t stop;

		if (!s->heap_count)
			pos = s->claims[s->order[next]].start;
		while (next < s->count && s->claims[s->order[next]].start <= pos)
			heap_push(s, s->order[next++]);
		if (s->claims[s->heap[0]].end <= pos) {
			heap_pop(s);
			continue;
		}
		stop = s->claims[s->heap[0]].end;
		if (next < s->count && s->claims[s->order[next]].start < stop)
			stop = s->claims[s->order[next]].start;
		give(s, pos, stop, &s->claims[s->heap[0]]);
		pos = stop;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	if (x->view != y->view)
		return x->view < y->view ? -1 : 1;
	if (x->start != y->start)
		return x->start > y->start ? -1 : 1;
	return x->index > y->index ? -1 : x->index < y->index;
}

static int by_start(const void *a, const void *b, void *ctx)
{
	const struct claim *claims = ctx;
	uint64_t x = claims[*(const uint32_t *)a].start, y = claims[*(const uint32_t *)b].start;

	return x < y ? -1 : x > y;
}

static void list_claims(struct sweep *s, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (s->claims[i].start < s->claims[i].end)
			s->order[s->count++] = i;
	qsort_r(s->order, s->count, sizeof(*s->order), by_start, s->claims);
}

int claims_settle(struct claim **claims, size_t *count)
{
	struct sweep s = {
		.claims = *claims,
		.order = calloc(*count + 1, sizeof(*s.order)),
		.heap = calloc(*count + 1, sizeof(*s.heap)),
		.pieces = calloc(2 * *count + 1, sizeof(*s.pieces)),
	};
	int r = -ENOMEM;

	if (s.order && s.heap && s.pieces) {
		qsort(*claims, *count, sizeof(**claims), by_rank);
		list_claims(&s, (uint32_t)*count);
		run(&s);
		*claims = s.pieces;
		*count = s.piece_count;
		s.pieces = s.claims;
		r = 0;
	}
	free(s.order);
	free(s.heap);
	free(s.pieces);
	return r;
}
