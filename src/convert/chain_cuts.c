/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/row_chain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "core/deps.h"

/* Widths of starts: 1, 2, 4. */
#define WIDTHS 3

/*
 * Rows close together belong to one prologue or epilogue.  The pieces that functions have in
 * common begin at other rows.
 */
#define NEAR 8

/* Counted pieces have so many groups of such rows, or are a whole function. */
#define MAX_GROUPS 4

/* Fractions of a byte in costs of shared pieces. */
#define FRACTION 256

static int reserve(struct chain_cuts *cuts, size_t count)
{
	if (vector_reserve(&cuts->cuts, &cuts->capacity, count + 1, sizeof(*cuts->cuts)))
		return -ENOMEM;
	cuts->cuts[0] = (struct chain_cut){0};
	return 0;
}

/**
 * struct window - rows that a piece may begin with, the best one first
 * @items, @head, @tail: ascending by key and by row
 * @reach: bytes from the first row of a piece to the last, at most
 * @bytes: of rows up to the current one, without those that are left out
 */
struct window {
	struct window_item *items;
	size_t head, tail;
	uint32_t reach;
	int64_t bytes;
};

static inline void window_push(struct window *w, struct window_item item)
{
	while (w->tail > w->head && w->items[w->tail - 1].key > item.key)
		w->tail--;
	w->items[w->tail++] = item;
}

static inline const struct window_item *window_best(struct window *w, const struct chain_row *rows,
						    uint32_t last)
{
	while (rows[last].start - rows[w->items[w->head].row].start > w->reach)
		w->head++;
	return &w->items[w->head];
}

/* The same for a window that does not move: a later row is added if it is better. */
static inline const struct window_item *window_still(struct window *w, struct window_item item)
{
	if (!w->tail || w->items[0].key > item.key) {
		w->items[0] = item;
		w->tail = 1;
	}
	return w->items;
}

/*
 * The cost of a piece is that of an FDE and of its rows: the rows up to its end, less those up
 * to its begin.  So each begin has one number, and the best begin for a width of starts has
 * the least one in a window that moves with the end.  All rows are in reach of the @widest
 * starts.
 */
static BOBBIN_ALWAYS_INLINE void try_width(struct window *w, const struct chain_row *rows,
					   uint32_t i, uint64_t before, unsigned int width,
					   bool widest, struct chain_cut *best)
{
	int64_t size = rows[i].size + (int64_t)width;
	const struct window_item *item;
	struct window_item begin;

	w->bytes += rows[i].same ? 0 : size;
	begin = (struct window_item){(int64_t)before + size - w->bytes, i};
	if (widest) {
		item = window_still(w, begin);
	} else {
		window_push(w, begin);
		item = window_best(w, rows, i);
	}
	if ((uint64_t)(item->key + w->bytes) < best->cost)
		*best = (struct chain_cut){.cost = (uint64_t)(item->key + w->bytes),
					   .from = item->row};
}

/* @fours: starts may need four bytes. */
static BOBBIN_ALWAYS_INLINE void cut_by_width(struct chain_cut *cuts, const struct row_chain *chain,
					      uint32_t fde, struct window_item *items, bool fours)
{
	struct window one = {.items = items, .reach = UINT8_MAX};
	struct window two = {.items = items + chain->count, .reach = UINT16_MAX};
	struct window four = {.items = items + 2 * chain->count, .reach = UINT32_MAX};

	for (uint32_t i = 0; i < chain->count; i++) {
		const uint64_t before = cuts[i].cost + fde;
		struct chain_cut best = {.cost = UINT64_MAX};

		try_width(&one, chain->rows, i, before, 1, false, &best);
		try_width(&two, chain->rows, i, before, 2, !fours, &best);
		if (fours)
			try_width(&four, chain->rows, i, before, 4, true, &best);
		cuts[i + 1] = best;
	}
}

int chain_cuts_by_width(struct chain_cuts *cuts, const struct row_chain *chain,
			const struct fde_cost *cost)
{
	if (reserve(cuts, chain->count) ||
	    vector_reserve(&cuts->items, &cuts->item_capacity, WIDTHS * chain->count,
			   sizeof(*cuts->items)))
		return -ENOMEM;
	if (chain->widest <= 2)
		cut_by_width(cuts->cuts, chain, cost->whole, cuts->items, false);
	else
		cut_by_width(cuts->cuts, chain, cost->whole, cuts->items, true);
	return 0;
}

/**
 * struct search - for pieces that occur often
 * @cuts: to fill in, or NULL: only count
 * @wide: memory to cut functions by width
 * @chain, @counts, @cost: as given
 */
struct search {
	struct chain_cut *cuts;
	struct chain_cuts *wide;
	const struct row_chain *chain;
	struct piece_counts *counts;
	const struct fde_cost *cost;
};

/**
 * struct run - rows that may become a piece
 * @begin, @end: numbers of rows
 * @hash: of them
 * @bytes: with starts of one byte
 * @rows: that are not left out
 */
struct run {
	uint32_t begin, end;
	uint64_t hash;
	uint32_t bytes, rows;
};

/* The runs that begin with one row. */
struct runs {
	struct run runs[MAX_GROUPS + 1];
	unsigned int count;
};

static void try_run(const struct search *s, const struct run *run)
{
	const struct chain_row *rows = s->chain->rows;
	uint32_t width = start_width(rows[run->end - 1].start - rows[run->begin].start), count;
	struct piece_slot *slot = piece_counts_find(s->counts, run->hash);
	struct chain_cut *cut;
	uint64_t cost;

	if (!s->cuts) {
		slot->count++;
		return;
	}
	count = slot->count ? slot->count : 1;
	cost = s->cost->whole - s->cost->index + run->bytes + (width - 1) * (uint64_t)run->rows;
	cost = s->cuts[run->begin].cost + (uint64_t)s->cost->index * FRACTION +
	       cost * FRACTION / count;
	cut = &s->cuts[run->end];
	if (cost < cut->cost)
		*cut = (struct chain_cut){cost, run->begin, slot};
}

/* Whether no piece ends before the row because it belongs to the one before. */
static bool is_near(const struct chain_row *row)
{
	return row->start - row[-1].start <= NEAR && row->function == row[-1].function;
}

static void extend(struct run *run, const struct chain_row *first, const struct chain_row *row)
{
	run->end++;
	if (row->same && row != first)
		return;
	run->hash = piece_hash_more(run->hash, row->hash + row->start - first->start);
	run->bytes += row->size + 1;
	run->rows++;
}

/* Note a run that fits into one FDE, and prefetch the memory of its count. */
static void note_run(const struct search *s, const struct run *run, struct runs *ret)
{
	struct run *noted;

	if (run->rows > BOBBIN_SFRAME_MAX_ROWS)
		return;
	noted = &ret->runs[ret->count++];
	*noted = *run;
	noted->hash = piece_hash_more(run->hash, (uint64_t)s->chain->info << 8 | s->chain->flex);
	piece_counts_prefetch(s->counts, noted->hash);
}

/* The runs that begin with a row. */
static void list_runs(const struct search *s, uint32_t begin, struct runs *ret)
{
	const struct chain_row *first = &s->chain->rows[begin], *row = first;
	const struct chain_row *end = s->chain->rows + s->chain->count;
	struct run run = {.begin = begin, .end = begin};
	unsigned int groups = 0;

	ret->count = 0;
	while (row < end) {
		extend(&run, first, row);
		row++;
		if (row < end && is_near(row))
			continue;
		groups++;
		if (groups <= MAX_GROUPS || row == end || row->function != row[-1].function)
			note_run(s, &run, ret);
		if (row == end)
			break;
		if (row->function != first->function
			    ? groups >= MAX_GROUPS || row->start - first->start > UINT8_MAX
			    : groups >= MAX_GROUPS && first->function != begin)
			break;
	}
}

static void try_runs(const struct search *s, const struct runs *runs)
{
	for (unsigned int i = 0; i < runs->count; i++)
		try_run(s, &runs->runs[i]);
}

/* Bytes that an FDE takes with these rows, were all starts narrow. */
static uint64_t least_cost(const struct search *s, uint32_t begin, uint32_t end)
{
	const struct chain_row *rows = s->chain->rows;
	uint64_t least = s->cost->whole;

	for (uint32_t i = begin; i < end; i++)
		least += rows[i].same ? 0 : rows[i].size + 1;
	return least;
}

/* A long function by itself, after all pieces that end where it does. */
static int try_width_alone(const struct search *s, uint32_t end)
{
	const struct chain_row *rows = s->chain->rows;
	const uint32_t begin = rows[end - 1].function;
	struct row_chain function;
	uint64_t cost;

	if (start_width(rows[end - 1].start - rows[begin].start) == 1)
		return 0;
	/* mostly not even starts of one byte would do */
	if (s->cuts[begin].cost + least_cost(s, begin, end) * FRACTION >= s->cuts[end].cost)
		return 0;
	function = chain_part(s->chain, begin, end);
	if (chain_cuts_by_width(s->wide, &function, s->cost))
		return -ENOMEM;
	cost = s->cuts[begin].cost + s->wide->cuts[function.count].cost * FRACTION;
	if (cost < s->cuts[end].cost)
		s->cuts[end] = (struct chain_cut){.cost = cost, .from = begin};
	return 0;
}

static int try_all(const struct search *s)
{
	const struct chain_row *rows = s->chain->rows;
	struct runs runs[2] = {{.count = 0}, {.count = 0}};
	unsigned int now = 0;
	int r = 0;

	for (uint32_t i = 0; i < s->chain->count && !r; i++) {
		if (i && is_near(&rows[i]))
			continue;
		list_runs(s, i, &runs[now]);
		now ^= 1;
		try_runs(s, &runs[now]);
		/* no more pieces that end here are tried */
		if (s->cuts && i && rows[i].function == i)
			r = try_width_alone(s, i);
	}
	try_runs(s, &runs[now ^ 1]);
	if (s->cuts && !r)
		r = try_width_alone(s, (uint32_t)s->chain->count);
	return r;
}

void chain_cuts_count(const struct row_chain *chain, struct piece_counts *counts)
{
	try_all(&(struct search){.chain = chain, .counts = counts});
}

int chain_cuts_by_count(struct chain_cuts *cuts, const struct row_chain *chain,
			const struct fde_cost *cost, struct piece_counts *counts,
			struct chain_cuts *wide)
{
	struct search s = {.wide = wide, .chain = chain, .counts = counts, .cost = cost};

	if (reserve(cuts, chain->count))
		return -ENOMEM;
	for (size_t i = 1; i <= chain->count; i++)
		cuts->cuts[i] = (struct chain_cut){.cost = UINT64_MAX};
	s.cuts = cuts->cuts;
	if (try_all(&s))
		return -ENOMEM;
	for (size_t i = chain->count; i; i = cuts->cuts[i].from)
		if (cuts->cuts[i].slot)
			cuts->cuts[i].slot->used++;
	return 0;
}

struct row_chain chain_part(const struct row_chain *chain, size_t begin, size_t end)
{
	struct row_chain part = *chain;

	part.rows += begin;
	part.count = end - begin;
	return part;
}

void chain_cuts_reverse(struct chain_cuts *cuts, size_t count)
{
	struct chain_cut piece = cuts->cuts[count];
	size_t end = count;

	for (;;) {
		size_t begin = piece.from;
		struct chain_cut before = cuts->cuts[begin];

		cuts->cuts[begin].from = (uint32_t)end;
		cuts->cuts[begin].slot = piece.slot;
		if (!begin)
			return;
		end = begin;
		piece = before;
	}
}

void chain_cuts_fini(struct chain_cuts *cuts)
{
	free(cuts->cuts);
	free(cuts->items);
	*cuts = (struct chain_cuts){0};
}
