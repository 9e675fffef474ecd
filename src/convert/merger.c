/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/merger.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/claims.h"
#include "convert/function_list.h"
#include "convert/row_walk.h"
#include "convert/rule_pool.h"
#include "core/bisect.h"
#include "sframe/layout.h"

/* The place of the row at the end of a function's last piece. */
struct piece_cursor {
	uint64_t offset;
	uint32_t left;
};

/**
 * struct piece_writer - a section in the making
 * @options: what it is to be; or who takes its functions
 * @maker: the section
 * @list: the piece
 */
struct piece_writer {
	const struct merge_options *options;
	struct section_maker maker;
	struct function_list list;
};

/* Bytes of a row, at most; and a distance that V2 can express. */
#define MAX_ROW_SIZE 29
#define REACH ((int64_t)1 << 30)

/**
 * struct piece - a part of a function
 * @view, @fde: the function
 * @start, @size: the part
 * @from, @to: which rows, by their starts in the function or repeated block
 * @rep_size: rows repeat every so many bytes, or 0
 */
struct piece {
	const struct bobbin_sframe_view *view;
	const struct bobbin_sframe_fde *fde;
	uint64_t start;
	uint32_t size, from, to;
	uint8_t rep_size;
};

/* As section_maker_init(). */
static int piece_writer_init(const struct bobbin_arch *arch, const struct merge_options *options,
			     uint32_t functions, struct piece_writer *ret)
{
	int r = section_maker_init(arch, options->addr, options->version, options->share, functions,
				   &ret->maker);

	if (r)
		return r;
	ret->options = options;
	r = function_list_init(&ret->maker.builder, 1, &ret->list);
	if (r)
		section_maker_fini(&ret->maker);
	return r;
}

/* The rows of a piece, as if the function began there. */
static int slice(struct piece_writer *w, const struct piece *p, struct piece_cursor *cursor)
{
	struct row_walk walk = {p->view, p->fde, cursor->offset, cursor->left, 0, p->to};
	struct piece_cursor here = *cursor;
	struct bobbin_sframe_row row;
	struct bobbin_error error;

	w->list.rows.count = 0;
	while (row_walk_next(&walk, &error, &row) > 0) {
		uint32_t start = row.start > p->from ? row.start - p->from : 0;

		*cursor = here;
		here = (struct piece_cursor){walk.offset, walk.left};
		if (rule_rows_put(&w->list.rows, p->start + start, &row.rule))
			return -ENOMEM;
	}
	return 0;
}

/* Why the list refused a function; NONE: the section is too large. */
static enum bobbin_reason why_refused(const struct piece_writer *w, const struct listed_function *f)
{
	const struct bobbin_sframe_builder *b = &w->maker.builder;
	int64_t distance = (int64_t)(f->start - b->addr);

	if (f->signal && b->version < 3)
		return BOBBIN_REASON_SFRAME_RULE;
	for (uint32_t i = 0; i < f->count; i++)
		if (!function_list_expresses(&w->list, w->list.rows.row[f->first + i].rule))
			return BOBBIN_REASON_SFRAME_RULE;
	if (b->version < 3 && (distance < -REACH || distance > REACH))
		return BOBBIN_REASON_SFRAME_REACH;
	if (b->fre_len + w->list.fre_len + (uint64_t)f->count * MAX_ROW_SIZE > INT32_MAX)
		return BOBBIN_REASON_NONE;
	return BOBBIN_REASON_SFRAME_RULE;
}

static int add(struct piece_writer *w, struct listed_function *f, uint32_t *kept,
	       enum bobbin_reason *reason)
{
	enum bobbin_reason why;
	int r = w->options->take ? w->options->take(w->options->take_ctx, f, &w->list.rows)
				 : function_list_add(&w->list, f);

	if (!r)
		*kept += f->size;
	if (w->options->take)
		return r;
	if (!function_list_refused(r))
		return r;
	why = why_refused(w, f);
	if (!why)
		return r;
	*reason = why;
	return 0;
}

/* As many functions as the rows of the piece need. */
static int add_all(struct piece_writer *w, const struct piece *p, uint32_t *kept,
		   enum bobbin_reason *reason)
{
	const struct rule_rows *rows = &w->list.rows;
	uint64_t begin = p->start, end;
	size_t at = 0;
	int r;

	do {
		size_t left = rows->count - at;
		size_t n = left < BOBBIN_SFRAME_MAX_ROWS ? left : BOBBIN_SFRAME_MAX_ROWS;

		end = n < left ? rows->row[at + n].start : p->start + p->size;
		r = add(w,
			&(struct listed_function){
				.start = begin,
				.size = (uint32_t)(end - begin),
				.rep_size = p->rep_size,
				.signal = p->fde->signal,
				.first = at,
				.count = (uint32_t)n,
			},
			kept, reason);
		begin = end;
		at += n;
	} while (!r && at < rows->count);
	return r || w->options->take ? r : function_list_move(&w->list, &w->maker);
}

/* A V3 function without rows has no caller; with the signal bit nothing is known of it. */
static bool is_outermost(const struct piece_writer *w, const struct piece *p)
{
	return !p->fde->num_fres && (w->options->take ? !p->fde->signal : w->options->version < 3);
}

static int push_outermost(struct piece_writer *w, const struct piece *p)
{
	const struct bobbin_sframe_fre no_words = {0};
	struct bobbin_rule rule = {0};

	/* it has no rows that could be malformed */
	bobbin_sframe_rule(p->view, p->fde, &no_words, NULL, &rule);
	return rule_rows_put(&w->list.rows, p->start, &rule);
}

static int write_piece(struct piece_writer *w, const struct piece *p, struct piece_cursor *cursor,
		       uint32_t *kept, enum bobbin_reason *reason)
{
	int r = slice(w, p, cursor);

	if (!r && is_outermost(w, p))
		r = push_outermost(w, p);
	if (r)
		return r;
	/* here the function's first row has not begun: there is no rule to keep */
	if (!w->list.rows.count && p->fde->num_fres) {
		*kept += p->size;
		return 0;
	}
	return add_all(w, p, kept, reason);
}

/* A repeated block that was cut becomes a piece that is not repeated. */
static int write_block_rest(struct piece_writer *w, struct piece *p, uint32_t *kept,
			    enum bobbin_reason *reason)
{
	struct piece_cursor cursor = {p->fde->fre_off, p->fde->num_fres};
	uint32_t whole = p->size, rest = p->to - p->from;
	int r;

	p->size = rest < whole ? rest : whole;
	p->to = p->from + p->size;
	r = write_piece(w, p, &cursor, kept, reason);
	p->start += p->size;
	p->size = whole - p->size;
	return r;
}

static int write_blocks(struct piece_writer *w, struct piece *p, uint32_t *kept,
			enum bobbin_reason *reason)
{
	struct piece_cursor cursor = {p->fde->fre_off, p->fde->num_fres};
	uint8_t block = p->fde->rep_size;
	int r = 0;

	p->from %= block;
	p->to = block;
	if (p->from)
		r = write_block_rest(w, p, kept, reason);
	if (r || !p->size)
		return r;
	p->rep_size = block;
	p->from = 0;
	p->to = block;
	return write_piece(w, p, &cursor, kept, reason);
}

/*
 * Add the part [@start, @end) of a function whose rows can be read.  Its parts
 * come in ascending order, with the same @cursor: at the first one, before the
 * first row.
 *
 * @kept grows by the bytes of code that the section covers now; if a part of them is missing,
 * @reason says why.  0; -ERANGE if the section would be too large; -ENOMEM.
 */
static int piece_writer_add(struct piece_writer *writer, const struct bobbin_sframe_view *view,
			    const struct bobbin_sframe_fde *fde, uint64_t start, uint64_t end,
			    struct piece_cursor *cursor, uint32_t *kept, enum bobbin_reason *reason)
{
	struct piece piece = {
		.view = view,
		.fde = fde,
		.start = start,
		.size = (uint32_t)(end - start),
		.from = (uint32_t)(start - fde->start),
		.to = (uint32_t)(end - fde->start),
	};

	if (fde->pcmask)
		return write_blocks(writer, &piece, kept, reason);
	return write_piece(writer, &piece, cursor, kept, reason);
}

static void piece_writer_fini(struct piece_writer *writer)
{
	function_list_fini(&writer->list);
	section_maker_fini(&writer->maker);
}

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

/* Either way @pieces becomes the caller's. */
static int settle(const struct merger *m, struct claim **pieces, size_t *count)
{
	struct claim *claims = calloc((size_t)m->count + 1, sizeof(*claims));

	for (uint32_t i = 0; claims && i < m->count; i++) {
		const struct candidate *c = &m->candidates[i];

		claims[i] = (struct claim){c->start, c->end, c->view, i};
	}
	*pieces = claims;
	*count = m->count;
	return claims ? claims_settle(pieces, count) : -ENOMEM;
}

static int merge_piece(struct merger *m, const struct claim *piece, struct piece_writer *writer)
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

static int merge_pieces(struct merger *m, const struct claim *pieces, size_t count,
			struct merge_stats *stats, uint8_t **data, uint64_t *size)
{
	const struct merge_options *options = m->options;
	struct piece_writer writer;
	int r = piece_writer_init(m->views[0].arch, options, (uint32_t)count, &writer);

	if (r)
		return r;
	for (size_t i = 0; i < count && !r; i++)
		r = merge_piece(m, &pieces[i], &writer);
	stats->pieces = writer.maker.builder.fde_count;
	if (!r && !options->take)
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
		r = merge_pieces(m, pieces, count, stats, data, size);
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
