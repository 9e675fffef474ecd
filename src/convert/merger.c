/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/merger.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/claims.h"
#include "convert/function_pieces.h"
#include "convert/row_walk.h"
#include "convert/rule_pool.h"
#include "core/bisect.h"
#include "sframe/layout.h"

/* Different rows of a repeated block, at most. */
#define MAX_BLOCK_ROWS 256

/**
 * struct candidate - a function of a view
 * @start, @end: addresses that it claims, none after a refusal
 * @where: offset in the section of what is wrong or, later, of the entry
 * @hash: of the rows
 * @rest: rows that are to be written
 * @size: bytes of code by the entry
 * @view, @index: of the entry
 * @kept: bytes of code that were written
 * @reason: why it was dropped or clipped; NONE: because of others
 */
struct candidate {
	uint64_t start, end, where, hash;
	struct piece_cursor rest;
	uint32_t size, view, index, kept;
	enum bobbin_reason reason;
};

struct merger {
	const struct bobbin_sframe_view *views;
	const struct merge_options *options;
	struct candidate *candidates;
	uint32_t count;
	uint64_t rows, most_rows;
};

static const struct bobbin_sframe_view *view_of(const struct merger *m, const struct candidate *c)
{
	return &m->views[c->view];
}

/* Read all rows once, to know that they can be read. */
static int check_rows(struct merger *m, const struct bobbin_sframe_view *view,
		      const struct bobbin_sframe_fde *fde, struct bobbin_error *err,
		      struct candidate *c)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	uint64_t hash = hash_words(fde->signal, fde->rep_size, 0);
	bool any = !fde->num_fres && view->version >= 3;
	int r;

	if (fde->pcmask && fde->num_fres > MAX_BLOCK_ROWS)
		return refuse(err, fde->fre_off, BOBBIN_REASON_SFRAME_ORDER);
	while ((r = row_walk_next(&walk, err, &row)) > 0) {
		if (++m->rows > m->most_rows)
			return -E2BIG;
		any |= row.start < sframe_fre_limit(fde);
		hash = rule_hash(&row.rule, hash ^ row.start);
	}
	if (r)
		return r;
	c->hash = hash;
	return any ? 0 : refuse(err, fde->fre_off, BOBBIN_REASON_NO_ROW);
}

/* The text that holds an address, or NULL. */
static const struct bobbin_range *text_of(const struct merge_options *options, uint64_t addr)
{
	size_t at = bisect(i, 0, options->text_count, options->texts[i].end > addr);

	if (at == options->text_count || options->texts[at].start > addr)
		return NULL;
	return &options->texts[at];
}

static int judge(struct merger *m, const struct bobbin_sframe_view *view,
		 const struct bobbin_sframe_fde *fde, struct bobbin_error *err, struct candidate *c)
{
	const struct bobbin_range *text;
	uint64_t end = fde->start + fde->size;
	int r;

	if (!fde->size)
		return refuse(err, c->where, BOBBIN_REASON_SFRAME_NO_CODE);
	r = check_rows(m, view, fde, err, c);
	if (r)
		return r;
	if (m->options->texts) {
		text = text_of(m->options, fde->start);
		if (!text)
			return refuse(err, c->where, BOBBIN_REASON_SFRAME_TEXT);
		if (text->end < end) {
			end = text->end;
			c->reason = BOBBIN_REASON_SFRAME_TEXT;
		}
	}
	c->end = end;
	c->rest = (struct piece_cursor){fde->fre_off, fde->num_fres};
	return 0;
}

static int take_function(struct merger *m, uint32_t index, uint32_t entry)
{
	const struct bobbin_sframe_view *view = &m->views[index];
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t where = view->fde_off + (uint64_t)entry * view->fde_size;
	struct candidate *c = &m->candidates[m->count++];
	struct bobbin_sframe_fde fde;
	struct bobbin_error error;
	int r;

	*c = (struct candidate){
		.start = sframe_fde_start(&fdes, where),
		.size = sframe_fde_size(&fdes, where),
		.where = where,
		.view = index,
		.index = entry,
	};
	c->end = c->start;
	r = bobbin_sframe_fde(view, entry, &error, &fde);
	if (!r)
		r = judge(m, view, &fde, &error, c);
	if (r != -EBADMSG)
		return r;
	c->where = error.offset;
	c->reason = error.reason;
	return 0;
}

static int take_functions(struct merger *m, uint32_t count)
{
	uint64_t functions = 0;
	int r = 0;

	m->most_rows = MERGE_ROWS_ALWAYS;
	for (uint32_t i = 0; i < count; i++) {
		functions += m->views[i].num_fdes;
		m->most_rows += MERGE_ROWS_PER_BYTE * m->views[i].size;
		if (m->views[i].arch != m->views[0].arch)
			return -EINVAL;
	}
	if (functions > INT32_MAX)
		return -ERANGE;
	m->candidates = calloc(functions + 1, sizeof(*m->candidates));
	if (!m->candidates)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t entry = 0; entry < m->views[i].num_fdes && !r; entry++)
			r = take_function(m, i, entry);
	return r;
}

/* Those of the same code one after the other, in the order of claims. */
static int by_extent(const void *a, const void *b, void *ctx)
{
	const struct candidate *candidates = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct candidate *x = &candidates[i], *y = &candidates[j];

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->view != y->view)
		return x->view < y->view ? -1 : 1;
	return i > j ? -1 : i < j;
}

static bool same_rows(const struct merger *m, const struct candidate *a, const struct candidate *b)
{
	struct bobbin_sframe_row x = {0}, y = {0};
	struct bobbin_sframe_fde f, g;
	struct bobbin_error error;
	struct row_walk s, t;
	int r;

	if (a->hash != b->hash || bobbin_sframe_fde(view_of(m, a), a->index, &error, &f) ||
	    bobbin_sframe_fde(view_of(m, b), b->index, &error, &g))
		return false;
	if (f.num_fres != g.num_fres || f.rep_size != g.rep_size || f.signal != g.signal)
		return false;
	s = row_walk(view_of(m, a), &f);
	t = row_walk(view_of(m, b), &g);
	while ((r = row_walk_next(&s, &error, &x)) > 0) {
		if (row_walk_next(&t, &error, &y) <= 0 || x.start != y.start ||
		    !bobbin_rule_equal(&x.rule, &y.rule))
			return false;
	}
	return !r;
}

/* Of functions with the same rules for the same code keep the one that lookups find. */
static int drop_duplicates(struct merger *m)
{
	uint32_t *order = calloc((size_t)m->count + 1, sizeof(*order)), count = 0;
	struct candidate *first = NULL;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->count; i++)
		if (m->candidates[i].start < m->candidates[i].end)
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), by_extent, m->candidates);
	for (uint32_t i = 0; i < count; i++) {
		struct candidate *c = &m->candidates[order[i]];

		if (!first || c->start != first->start || c->size != first->size) {
			first = c;
		} else if (same_rows(m, first, c)) {
			c->end = c->start;
			c->reason = BOBBIN_REASON_SFRAME_DUPLICATE;
		}
	}
	free(order);
	return 0;
}

static int settle(const struct merger *m, struct claim **pieces, size_t *count)
{
	struct claim *claims = calloc((size_t)m->count + 1, sizeof(*claims));
	int r = -ENOMEM;

	for (uint32_t i = 0; claims && i < m->count; i++) {
		const struct candidate *c = &m->candidates[i];

		claims[i] = (struct claim){c->start, c->end, c->view, i};
	}
	if (claims)
		r = claims_settle(claims, m->count, pieces, count);
	free(claims);
	return r;
}

static int write_piece(struct merger *m, const struct claim *piece, struct piece_writer *writer)
{
	struct candidate *c = &m->candidates[piece->index];
	const struct bobbin_sframe_view *view = view_of(m, c);
	struct bobbin_sframe_fde fde;
	struct bobbin_error error;
	int r = bobbin_sframe_fde(view, c->index, &error, &fde);

	if (!r)
		r = piece_writer_add(writer, view, &fde, piece->start, piece->end, &c->rest,
				     &c->kept, &c->reason);
	return r;
}

static int write_pieces(struct merger *m, const struct claim *pieces, size_t count,
			struct merge_stats *stats, uint8_t **data, uint64_t *size)
{
	const struct merge_options *options = m->options;
	struct piece_writer writer;
	int r = piece_writer_init(m->views[0].arch, options->addr, options->version, options->share,
				  (uint32_t)count, &writer);

	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = write_piece(m, &pieces[i], &writer);
	stats->pieces = writer.maker.builder.fde_count;
	if (!r)
		r = section_maker_finish(&writer.maker, data, size);
	piece_writer_fini(&writer);
	return r;
}

static void report(const struct merger *m, const struct candidate *c, struct merge_stats *stats)
{
	struct merge_report report = {
		.view = c->view,
		.offset = c->where,
		.start = c->start,
		.size = c->size,
		.left = c->kept,
		.fate = c->kept ? MERGE_CLIPPED : MERGE_DROPPED,
		.reason = c->reason ? c->reason : BOBBIN_REASON_SFRAME_COVERED,
	};

	if (c->size && c->kept == c->size)
		return;
	if (c->kept)
		stats->clipped++;
	else
		stats->dropped++;
	if (m->options->report)
		m->options->report(m->options->ctx, &report);
}

static int merge(struct merger *m, struct merge_stats *stats, uint8_t **data, uint64_t *size)
{
	struct claim *pieces = NULL;
	size_t count = 0;
	int r = drop_duplicates(m);

	if (!r)
		r = settle(m, &pieces, &count);
	if (!r)
		r = write_pieces(m, pieces, count, stats, data, size);
	free(pieces);
	return r;
}

int merge_sections(const struct bobbin_sframe_view *views, uint32_t count,
		   const struct merge_options *options, struct merge_stats *stats, uint8_t **data,
		   uint64_t *size)
{
	struct merger m = {.views = views, .options = options};
	struct merge_stats done = {0};
	int r = take_functions(&m, count);

	if (!r)
		r = merge(&m, &done, data, size);
	for (uint32_t i = 0; i < m.count && !r; i++)
		report(&m, &m.candidates[i], &done);
	free(m.candidates);
	if (r)
		return r;
	done.functions = m.count;
	done.rows = m.rows;
	*stats = done;
	return 0;
}
