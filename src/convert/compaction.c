/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "convert/row_chain.h"
#include "sframe/built_function.h"

/* Bytes of a row without its start, at most. */
#define MAX_BODY (1 + 4 * SFRAME_FRE_MAX_WORDS)

/* How often pieces are counted again after a choice among them. */
#define ROUNDS 2

/**
 * struct compaction - a section on its way to a smaller one
 * @from: its functions
 * @b: the section that is made, for its version and address
 * @cost: of an FDE
 * @fdes, @fde_count: of the new one
 * @fres, @fre_len: of the new one
 * @num_fres: of the new one
 * @chain, @cuts: of the functions at hand
 * @wide: of one of them that is cut by width
 * @counts: of rows that are shared
 * @bounds, @bound_count: those that were not passed yet
 * @alone: rows before this offset are not shared any more
 */
struct compaction {
	const struct function_list *from;
	const struct bobbin_sframe_builder *b;
	struct fde_cost cost;
	struct bobbin_sframe_built *fdes;
	size_t fde_count, fde_capacity;
	uint8_t *fres;
	size_t fre_len, fre_capacity;
	uint64_t num_fres;
	struct row_chain chain;
	struct chain_cuts cuts, wide;
	struct piece_counts counts;
	const uint64_t *bounds;
	size_t bound_count, alone;
};

static int reserve(struct compaction *c, size_t bytes, size_t fdes)
{
	if (vector_reserve(&c->fres, &c->fre_capacity, c->fre_len + bytes, 1) ||
	    vector_reserve(&c->fdes, &c->fde_capacity, c->fde_count + fdes, sizeof(*c->fdes)))
		return -ENOMEM;
	return 0;
}

/* There will be fewer bytes, and mostly fewer FDEs. */
static int reserve_all(struct compaction *c)
{
	return reserve(c, c->from->fre_len + ROW_SLACK, c->from->count);
}

/* No rows from before a bound are shared after it. */
static void pass_bounds(struct compaction *c, uint64_t start)
{
	while (c->bound_count && start >= *c->bounds) {
		c->bounds++;
		c->bound_count--;
		c->alone = c->fre_len;
	}
}

/* Where the next FDE is made. */
static struct bobbin_sframe_built *next_fde(const struct compaction *c)
{
	return &c->fdes[c->fde_count];
}

/* Add the next FDE.  Its @size bytes follow all others, and may repeat earlier ones. */
static void add(struct compaction *c, size_t size, struct piece_slot *slot)
{
	size_t where = slot ? slot->where : PIECE_NOWHERE;
	struct bobbin_sframe_built *fde = next_fde(c);

	pass_bounds(c, fde->start);
	fde->fre_off = (uint32_t)c->fre_len;
	if (where >= c->alone && where < c->fre_len && size <= c->fre_len - where &&
	    !memcmp(c->fres + where, c->fres + c->fre_len, size)) {
		fde->fre_off = (uint32_t)where;
	} else {
		c->fre_len += size;
		if (slot)
			slot->where = fde->fre_off;
	}
	c->fde_count++;
	c->num_fres += fde->num_fres;
}

/* Append a function as it is, and the next FDE.  Bytes, or -ENOMEM. */
static int64_t write_function(struct compaction *c, const struct listed_function *f)
{
	size_t size = function_list_size(c->from, f), need = c->fre_len + size + ROW_SLACK;

	if ((need > c->fre_capacity || c->fde_count == c->fde_capacity) &&
	    reserve(c, size + ROW_SLACK, 1))
		return -ENOMEM;
	function_list_write(c->from, f, c->fres + c->fre_len, next_fde(c));
	return (int64_t)size;
}

/* Add a function as it is, or share it. */
static int copy(struct compaction *c, size_t index)
{
	int64_t size = write_function(c, &c->from->functions[index]);

	if (size < 0)
		return (int)size;
	add(c, (size_t)size,
	    piece_counts_find(&c->counts, piece_hash(c->fres + c->fre_len, (size_t)size)));
	return 0;
}

/* Add functions as they are. */
static int keep(struct compaction *c, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		int64_t size = write_function(c, &c->from->functions[i]);

		if (size < 0)
			return (int)size;
		add(c, (size_t)size, NULL);
	}
	return 0;
}

static uint8_t *put_row(uint8_t *at, const struct chain_row *row, uint32_t start,
			unsigned int width, bool big_endian)
{
	at = bytes_store(at, start, width, big_endian);
	return row_form_copy(at, row->body, row->size);
}

/* Rows of a chain become an FDE. */
static int add_piece(struct compaction *c, size_t begin, size_t end, struct piece_slot *slot)
{
	const struct chain_row *rows = c->chain.rows, *first = &rows[begin];
	uint32_t width = start_width(rows[end - 1].start - first->start);
	uint32_t stop = end < c->chain.count ? rows[end].start : c->chain.size;
	struct bobbin_sframe_built fde = {
		.start = c->chain.start + first->start,
		.size = stop - first->start,
		.info = c->chain.info | (uint8_t)(width >> 1),
		.flex = c->chain.flex,
	};
	const uint32_t attribute = sframe_attribute_size(c->b->version);
	uint8_t *at;

	if (reserve(c, attribute + (end - begin) * (width + MAX_BODY), 1))
		return -ENOMEM;
	at = c->fres + c->fre_len + attribute;
	for (const struct chain_row *row = first; row < rows + end; row++) {
		if (row->same && row != first)
			continue;
		at = put_row(at, row, row->start - first->start, width, c->b->arch->big_endian);
		fde.num_fres++;
	}
	sframe_put_attribute(c->b, &fde, c->fres + c->fre_len);
	*next_fde(c) = fde;
	add(c, (size_t)(at - (c->fres + c->fre_len)), slot);
	return 0;
}

/* Rows of a function by itself. */
static int add_by_width(struct compaction *c, size_t begin, size_t end)
{
	const struct row_chain function = chain_part(&c->chain, begin, end);
	const struct chain_cut *cuts;
	int r = chain_cuts_by_width(&c->wide, &function, &c->cost);

	if (r)
		return r;
	chain_cuts_reverse(&c->wide, function.count);
	cuts = c->wide.cuts;
	for (size_t i = 0; i < function.count && !r; i = cuts[i].from)
		r = add_piece(c, begin + i, begin + cuts[i].from, NULL);
	return r;
}

/* Bytes that starts take beyond their first. */
static uint64_t wide_bytes(const struct listed_function *f)
{
	return (uint64_t)f->count * (start_width(f->last) - 1);
}

/* Whether a cut of the function could gain more bytes than it costs. */
static bool is_worth_a_cut(const struct compaction *c, size_t index)
{
	return wide_bytes(&c->from->functions[index]) > c->cost.whole &&
	       row_chain_can_start(c->from, index);
}

static int cut(struct compaction *c, size_t index)
{
	int r = row_chain_read(&c->chain, c->from, index, 1);

	return r ? r : add_by_width(c, 0, c->chain.count);
}

/* Cuts save no more than the bytes that starts take beyond their first. */
static uint64_t least_without_sharing(const struct compaction *c)
{
	uint64_t size = c->from->fre_len + (uint64_t)c->from->count * c->cost.index;

	for (size_t i = 0; i < c->from->count; i++)
		size -= wide_bytes(&c->from->functions[i]);
	return size;
}

/* The smallest form without sharing in which no FDE goes beyond a function. */
static int cut_functions(struct compaction *c)
{
	size_t kept = 0, i;
	int r = 0;

	for (i = 0; i < c->from->count && !r; i++) {
		if (!is_worth_a_cut(c, i))
			continue;
		r = keep(c, kept, i);
		if (!r)
			r = cut(c, i);
		kept = i + 1;
	}
	return r ? r : keep(c, kept, i);
}

static int read_with_hashes(struct compaction *c, size_t first, size_t length)
{
	int r = row_chain_read(&c->chain, c->from, first, length);

	if (!r)
		row_chain_hash(&c->chain);
	return r;
}

static int count_pieces(struct compaction *c, size_t first, size_t length)
{
	int r = read_with_hashes(c, first, length);

	if (!r)
		chain_cuts_count(&c->chain, &c->counts);
	return r;
}

static int choose_pieces(struct compaction *c, size_t first, size_t length)
{
	int r = read_with_hashes(c, first, length);

	return r ? r : chain_cuts_by_count(&c->cuts, &c->chain, &c->cost, &c->counts, &c->wide);
}

static int add_shared(struct compaction *c, size_t first, size_t length)
{
	const struct chain_cut *cuts;
	int r = choose_pieces(c, first, length);

	if (r)
		return r;
	chain_cuts_reverse(&c->cuts, c->chain.count);
	cuts = c->cuts.cuts;
	for (size_t i = 0; i < c->chain.count && !r; i = cuts[i].from)
		r = cuts[i].slot ? add_piece(c, i, cuts[i].from, cuts[i].slot)
				 : add_by_width(c, i, cuts[i].from);
	return r;
}

/* Call one function for each chain, and another for functions that cannot be in one. */
static int for_each_chain(struct compaction *c, int (*chain)(struct compaction *, size_t, size_t),
			  int (*other)(struct compaction *, size_t))
{
	int r = 0;

	for (size_t i = 0, length; i < c->from->count && !r; i += length) {
		bool whole = row_chain_can_start(c->from, i);

		length = whole ? row_chain_length(c->from, i) : 1;
		if (whole)
			r = chain(c, i, length);
		else if (other)
			r = other(c, i);
	}
	return r;
}

static int share(struct compaction *c)
{
	int r = piece_counts_init(&c->counts, 2 * c->from->num_fres);

	if (!r)
		r = for_each_chain(c, count_pieces, NULL);
	for (unsigned int i = 1; i < ROUNDS && !r; i++) {
		r = for_each_chain(c, choose_pieces, NULL);
		piece_counts_turn(&c->counts);
	}
	return r ? r : for_each_chain(c, add_shared, copy);
}

/* V2: whether the new FDEs' starts are still in reach. */
static bool in_reach(const struct compaction *c)
{
	int64_t reach = (int64_t)INT32_MAX - SFRAME_HEADER_SIZE -
			(int64_t)(c->fde_count * SFRAME_V2_FDE_SIZE);

	for (size_t i = 0; i < c->fde_count && c->b->version < 3; i++) {
		int64_t distance = (int64_t)(c->fdes[i].start - c->b->addr);

		if (distance < -reach || distance > reach)
			return false;
	}
	return c->fde_count <= INT32_MAX && c->fre_len <= INT32_MAX && c->num_fres <= UINT32_MAX;
}

static void replace(struct compaction *c, struct bobbin_sframe_builder *b)
{
	free(b->fdes);
	free(b->fres);
	b->fdes = c->fdes;
	b->fde_count = b->fde_max = (uint32_t)c->fde_count;
	b->fres = c->fres;
	b->fre_len = b->fre_max = (uint32_t)c->fre_len;
	b->num_fres = (uint32_t)c->num_fres;
	c->fdes = NULL;
	c->fres = NULL;
}

static int run(struct compaction *c, int (*choose)(struct compaction *))
{
	int r;

	c->cost.index = sframe_fde_size_of(c->b->version);
	c->cost.whole = c->cost.index + sframe_attribute_size(c->b->version);
	r = reserve_all(c);
	return r ? r : choose(c);
}

static uint64_t size_of(const struct compaction *c)
{
	return c->fre_len + (uint64_t)c->fde_count * c->cost.index;
}

static void compaction_fini(struct compaction *c)
{
	free(c->fdes);
	free(c->fres);
	row_chain_fini(&c->chain);
	chain_cuts_fini(&c->cuts);
	chain_cuts_fini(&c->wide);
	piece_counts_fini(&c->counts);
}

int compact_functions(const struct function_list *list, bool sharing, const uint64_t *bounds,
		      size_t count, struct section_maker *maker)
{
	struct bobbin_sframe_builder *b = &maker->builder;
	struct compaction plain = {.from = list, .b = b};
	struct compaction shared = {.from = list, .b = b, .bounds = bounds, .bound_count = count};
	bool fits, smaller = false;
	int r = sharing ? run(&shared, share) : 0;

	/* the first pass estimates what is shared */
	fits = sharing && !r && in_reach(&shared);
	if (fits)
		smaller = size_of(&shared) < least_without_sharing(&shared);
	if (!r && !smaller) {
		r = run(&plain, cut_functions);
		smaller = !r && fits && size_of(&shared) < size_of(&plain);
	}
	if (!r && smaller)
		replace(&shared, b);
	else if (!r && in_reach(&plain))
		replace(&plain, b);
	else if (!r)
		r = function_list_make(list, maker);
	compaction_fini(&plain);
	compaction_fini(&shared);
	return r;
}
