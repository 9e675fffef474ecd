/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/converter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "convert/compaction.h"
#include "convert/fde_list.h"
#include "convert/usual_program.h"

/* Lazy-binding stubs have this size, and a push of this many bytes in them. */
#define STUB_SIZE 16
#define STUB_PUSH 8

/**
 * struct conversion - a section in the making
 * @options, @stats, @views: as given
 * @maker: the section
 * @rows, @count, @capacity: the part of a function that is collected
 * @start, @end: its addresses
 * @listed: the FDE that is being converted
 * @fde: the same, decoded
 * @program: of an FDE before that has the same CIE; its view is NULL if there is none
 * @initial: what that CIE says, if it is @usual
 * @lost: it lost a row
 * @made: functions made of it
 */
struct conversion {
	const struct convert_options *options;
	struct convert_stats *stats;
	const struct bobbin_cfi_view *views;
	struct section_maker maker;
	struct bobbin_sframe_row *rows;
	size_t count, capacity;
	uint64_t start, end;
	const struct listed_fde *listed;
	struct bobbin_cfi_fde fde;
	struct bobbin_cfi_rows program;
	struct usual_rule initial;
	bool usual, lost;
	uint64_t made;
};

static void lose(struct conversion *c, uint64_t start, uint64_t end, enum bobbin_reason reason)
{
	const struct convert_gap gap = {
		.start = start,
		.end = end,
		.fde = c->listed->offset,
		.debug_frame = c->views[c->listed->view].debug_frame,
		.reason = reason,
		.rows = 1,
	};

	c->lost = true;
	c->stats->lost_rows++;
	c->stats->lost_text += end - start;
	c->stats->reasons[reason]++;
	if (c->options->gap)
		c->options->gap(c->options->ctx, &gap);
}

/* The address at which a collected row ends. */
static uint64_t row_end(const struct conversion *c, size_t i)
{
	return i + 1 < c->count ? c->start + c->rows[i + 1].start : c->end;
}

static int add(struct conversion *c, struct bobbin_sframe_function function)
{
	int r = section_maker_add(&c->maker, &function);

	if (r)
		return r;
	c->made++;
	return 0;
}

static void shift_rows(struct bobbin_sframe_row *rows, size_t count, uint32_t by)
{
	for (size_t i = 0; i < count; i++)
		rows[i].start += by;
}

/* Some of the collected rows as a function of their own. */
static int add_rows(struct conversion *c, size_t first, size_t count)
{
	struct bobbin_sframe_row *rows = c->rows + first;
	uint32_t base = rows->start;
	uint64_t size = row_end(c, first + count - 1) - (c->start + base);
	int r;

	if (size > UINT32_MAX)
		return -ERANGE;
	if (base)
		shift_rows(rows, count, -base);
	r = add(c, (struct bobbin_sframe_function){
			   .start = c->start + base,
			   .size = (uint32_t)size,
			   .signal = c->fde.signal,
			   .rows = rows,
			   .count = (uint32_t)count,
		   });
	if (base)
		shift_rows(rows, count, base);
	return r;
}

/* Whether rows that are representable one by one cannot be one function. */
static bool too_much(int r)
{
	return r == -ERANGE || r == -EINVAL;
}

/* Representable rows in as few functions as can be found by halving and doubling. */
static int add_pieces(struct conversion *c, size_t first, size_t count)
{
	size_t piece = count;

	while (count) {
		int r;

		if (piece > count)
			piece = count;
		r = add_rows(c, first, piece);
		if (too_much(r) && piece > 1) {
			piece /= 2;
			continue;
		}
		if (too_much(r))
			lose(c, c->start + c->rows[first].start, row_end(c, first),
			     BOBBIN_REASON_SFRAME_REACH);
		else if (r)
			return r;
		first += piece;
		count -= piece;
		piece *= 2;
	}
	return 0;
}

/* The rows between those that SFrame cannot express. */
static int add_around_holes(struct conversion *c)
{
	const struct bobbin_sframe_builder *b = &c->maker.builder;
	size_t first = 0;

	for (size_t i = 0; i <= c->count; i++) {
		int r;

		if (i < c->count && bobbin_sframe_builder_can_express(b, &c->rows[i].rule))
			continue;
		r = i > first ? add_pieces(c, first, i - first) : 0;
		if (r)
			return r;
		if (i < c->count)
			lose(c, c->start + c->rows[i].start, row_end(c, i),
			     BOBBIN_REASON_SFRAME_RULE);
		first = i + 1;
	}
	return 0;
}

/* What is collected becomes a function, or several. */
static int flush(struct conversion *c)
{
	int r = 0;

	if (c->count)
		r = add_rows(c, 0, c->count);
	if (too_much(r))
		r = add_around_holes(c);
	c->count = 0;
	return r;
}

static bool continues(const struct conversion *c, const struct bobbin_row *row)
{
	return c->count && c->end == row->start &&
	       bobbin_rule_equal(&c->rows[c->count - 1].rule, &row->rule);
}

static int collect(struct conversion *c, const struct bobbin_row *row)
{
	int r = 0;

	if (continues(c, row)) {
		c->end = row->end;
		return 0;
	}
	if (c->count && row->start - c->start > UINT32_MAX)
		r = flush(c);
	if (!r && vector_reserve(&c->rows, &c->capacity, c->count + 1, sizeof(*c->rows)))
		r = -ENOMEM;
	if (r)
		return r;
	if (!c->count)
		c->start = row->start;
	c->rows[c->count++] = (struct bobbin_sframe_row){.start = (uint32_t)(row->start - c->start),
							 .rule = row->rule};
	c->end = row->end;
	return 0;
}

/* Parts of stubs of @STUB_SIZE bytes, byte by byte if need be. */
static int collect_stubs(struct conversion *c, const struct bobbin_row *row, uint8_t push,
			 uint64_t start, uint64_t end)
{
	struct bobbin_row byte = *row;
	int r = 0;

	for (byte.start = start; byte.start < end && !r; byte.start++) {
		bool pushed = byte.start % STUB_SIZE >= push;

		byte.end = byte.start + 1;
		byte.rule.cfa.off = row->rule.cfa.off + (pushed ? STUB_PUSH : 0);
		r = collect(c, &byte);
	}
	return r;
}

/* Whole stubs: rows that repeat. */
static int add_whole_stubs(struct conversion *c, const struct bobbin_row *row, uint8_t push,
			   uint64_t start, uint64_t end)
{
	struct bobbin_sframe_row rows[2] = {{0, row->rule}, {push, row->rule}};
	bool possible = bobbin_sframe_builder_can_express(&c->maker.builder, &row->rule);
	int r = end - start > UINT32_MAX ? -ERANGE : flush(c);

	rows[1].rule.cfa.off += STUB_PUSH;
	if (!r)
		r = add(c, (struct bobbin_sframe_function){
				   .start = start,
				   .size = (uint32_t)(end - start),
				   .rep_size = STUB_SIZE,
				   .signal = c->fde.signal,
				   .rows = rows,
				   .count = 2,
			   });
	if (!too_much(r))
		return r;
	r = flush(c);
	lose(c, start, end, possible ? BOBBIN_REASON_SFRAME_REACH : BOBBIN_REASON_SFRAME_RULE);
	return r;
}

/* Stubs whose CFA moves at @push. */
static int add_stubs(struct conversion *c, const struct bobbin_row *row, uint8_t push)
{
	uint64_t before = -row->start % STUB_SIZE, size = row->end - row->start;
	uint64_t start = row->start + (before < size ? before : size);
	uint64_t end = start + (row->end - start) / STUB_SIZE * STUB_SIZE;
	int r = collect_stubs(c, row, push, row->start, start);

	if (!r && start < end)
		r = add_whole_stubs(c, row, push, start, end);
	return r ? r : collect_stubs(c, row, push, end, row->end);
}

static int take_row(struct conversion *c, const struct bobbin_row *row, uint8_t push)
{
	bool known = row->rule.cfa.how != BOBBIN_HOW_NO_RULE;
	enum bobbin_reason reason = known ? BOBBIN_REASON_NONE
					  : (enum bobbin_reason)row->rule.reason;
	int r;

	c->stats->cfi_rows++;
	if (push && push < STUB_SIZE && !c->options->floating)
		return add_stubs(c, row, push);
	if (push && push < STUB_SIZE)
		reason = BOBBIN_REASON_SFRAME_RULE;
	else if (known)
		return collect(c, row);
	r = flush(c);
	lose(c, row->start, row->end, reason);
	return r;
}

static int take_rows(struct conversion *c)
{
	struct bobbin_error error;
	struct bobbin_row row;
	uint64_t done = c->listed->start;
	int r;

	while ((r = bobbin_cfi_rows_next(&c->program, &error, &row)) > 0) {
		r = take_row(c, &row, c->program.plt);
		if (r)
			return r;
		done = row.end;
	}
	if (r && done < c->listed->end)
		lose(c, done, c->listed->end, error.reason);
	return flush(c);
}

/* A trampoline whose rule the format lacks: at least the mark. */
static int mark_signal_frame(struct conversion *c)
{
	uint64_t size = c->listed->end - c->listed->start;

	if (c->made || !c->fde.signal || c->options->version < 3 || size > UINT32_MAX)
		return 0;
	return add(c, (struct bobbin_sframe_function){
			      .start = c->listed->start, .size = (uint32_t)size, .signal = true});
}

/* Run what the FDE's CIE says. */
static int run_cie(struct conversion *c, const struct bobbin_cfi_view *view,
		   struct bobbin_error *err)
{
	int r = bobbin_cfi_rows_init(view, &c->fde, err, &c->program);

	c->usual = !r && usual_program_start(&c->program, &c->initial);
	return r;
}

/* Decode the listed FDE, and its CIE unless the one before has the same. */
static int read_fde(struct conversion *c, struct bobbin_error *err)
{
	const struct bobbin_cfi_view *view = &c->views[c->listed->view];
	uint64_t offset = c->listed->offset;
	int r;

	if (c->program.view != view) {
		r = bobbin_cfi_fde(view, offset, err, &c->fde);
		return r ? r : run_cie(c, view, err);
	}
	r = bobbin_cfi_next_like(view, &offset, &c->fde, err, &c->fde);
	if (r < 0)
		return r;
	return c->fde.cie == c->program.fde.cie ? 0 : run_cie(c, view, err);
}

/* All rows are usual and make one function; else false, and nothing was done. */
static bool add_usual(struct conversion *c)
{
	const uint64_t start = c->listed->start, size = c->listed->end - start;
	struct bobbin_sframe_builder *b = &c->maker.builder;
	struct usual_rows usual;
	uint32_t count;

	if (!c->usual || size > UINT32_MAX || !usual_rows_start(b, (uint32_t)size, &usual) ||
	    !usual_program_run(c->program.view, &c->fde, &c->initial, (uint32_t)size, &usual,
			       &count) ||
	    !usual_rows_finish(b, &usual, start, (uint32_t)size))
		return false;
	c->stats->cfi_rows += count;
	return true;
}

/* Any rows, one by one. */
static int add_others(struct conversion *c)
{
	int r = bobbin_cfi_rows_again(&c->fde, NULL, &c->program);

	if (!r)
		r = take_rows(c);
	c->stats->split += c->made && (c->made > 1 || c->lost);
	c->stats->lost_fdes += !c->made;
	return r ? r : mark_signal_frame(c);
}

static int convert_fde(struct conversion *c)
{
	struct bobbin_error error;
	int r = read_fde(c, &error);

	c->lost = false;
	c->made = 0;
	c->stats->fdes++;
	c->stats->text += c->listed->end - c->listed->start;
	if (!r)
		return add_usual(c) ? 0 : add_others(c);
	c->program.view = NULL;
	lose(c, c->listed->start, c->listed->end, error.reason);
	c->stats->lost_fdes++;
	return r == -EBADMSG ? mark_signal_frame(c) : r;
}

static int convert_all(struct conversion *c, const struct fde_list *list)
{
	c->stats->dead = list->dead;
	if (list->malformed) {
		c->stats->lost_fdes += list->malformed;
		c->stats->lost_rows += list->malformed;
		c->stats->reasons[list->reason] += list->malformed;
	}
	for (size_t i = 0; i < list->count; i++) {
		int r;

		c->listed = &list->fdes[i];
		r = convert_fde(c);
		if (r)
			return r;
	}
	return 0;
}

int convert_cfi(const struct bobbin_cfi_view *views, unsigned int count,
		const struct convert_options *options, struct convert_stats *stats, uint8_t **data,
		uint64_t *size)
{
	struct conversion c = {.options = options, .stats = stats, .views = views};
	struct fde_list list;
	int r;

	*stats = (struct convert_stats){0};
	r = fde_list_init(views, count, &list);
	if (r)
		return r;
	r = list.count > UINT32_MAX ? -ERANGE : 0;
	if (!r)
		r = section_maker_init(views->arch, options->addr, options->version,
				       options->keep_functions && options->share,
				       (uint32_t)list.count, &c.maker);
	if (!r) {
		r = convert_all(&c, &list);
		/* what comes now uses its memory */
		fde_list_fini(&list);
		if (!r && !options->keep_functions)
			r = compact_section(&c.maker, options->share, options->bounds,
					    options->bound_count);
		stats->functions = c.maker.builder.fde_count;
		stats->rows = c.maker.builder.num_fres;
		if (!r)
			r = options->in_place ? section_maker_finish_in_place(&c.maker, data, size)
					      : section_maker_finish(&c.maker, data, size);
		section_maker_fini(&c.maker);
	}
	fde_list_fini(&list);
	free(c.rows);
	return r;
}
