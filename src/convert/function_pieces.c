/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/function_pieces.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/function_rows.h"
#include "convert/row_walk.h"

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

int piece_writer_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		      bool share, uint32_t functions, struct piece_writer *ret)
{
	int r = section_maker_init(arch, addr, version, share, functions, &ret->maker);

	if (r)
		return r;
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
		if (function_rows_push(&w->list.rows, p->start + start, &row.rule))
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
	int r = function_list_add(&w->list, f);

	if (!r)
		*kept += f->size;
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
	return r ? r : function_list_move(&w->list, &w->maker);
}

/* A V3 function without rows has no caller. */
static int push_outermost(struct piece_writer *w, const struct piece *p)
{
	const struct bobbin_sframe_fre no_words = {0};
	struct bobbin_rule rule = {0};

	/* it has no rows that could be malformed */
	bobbin_sframe_rule(p->view, p->fde, &no_words, NULL, &rule);
	return function_rows_push(&w->list.rows, p->start, &rule);
}

static int write_piece(struct piece_writer *w, const struct piece *p, struct piece_cursor *cursor,
		       uint32_t *kept, enum bobbin_reason *reason)
{
	int r = slice(w, p, cursor);

	if (!r && !p->fde->num_fres && w->maker.builder.version < 3)
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

int piece_writer_add(struct piece_writer *writer, const struct bobbin_sframe_view *view,
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

void piece_writer_fini(struct piece_writer *writer)
{
	function_list_fini(&writer->list);
	section_maker_fini(&writer->maker);
}
