/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_sources.h"

#include <errno.h>

#include "convert/fde_list.h"
#include "sframe/layout.h"

/* Rows that are taken at once. */
#define WORDS 64

struct compilation {
	struct table_builder *builder;
	const struct bobbin_cfi_view *views;
	struct bobbin_cfi_rows program; /* its view is NULL if none was started */
	uint64_t rows;
};

static int take_refusal(struct compilation *c, uint64_t start, enum bobbin_reason reason)
{
	const struct bobbin_rule none = bobbin_rule_none(reason);

	return table_builder_rule(c->builder, start, &none);
}

/* The row that the program was run to, of stubs: the CFA moves in each. */
static int take_stubs(struct compilation *c)
{
	const unsigned int push = c->program.plt;
	struct bobbin_rule rule;
	uint32_t rules[2];
	int r;

	bobbin_cfi_rows_rule(&c->program, &rule);
	r = rule_pool_of_rule(&c->builder->rows.rules, &rule, &rules[0]);
	rule.cfa.off += STUB_PUSH;
	if (!r)
		r = rule_pool_of_rule(&c->builder->rows.rules, &rule, &rules[1]);
	for (uint64_t at = c->program.start; at < c->program.end && !r;) {
		bool pushed = at % STUB_SIZE >= push;

		r = table_builder_repeat(c->builder, at, rules[pushed]);
		at += (pushed ? STUB_SIZE : push) - at % STUB_SIZE;
	}
	return r;
}

static int take_row(struct compilation *c, const struct bobbin_cfi_word *row, bool last)
{
	struct bobbin_rule rule;
	uint32_t number;
	int r;

	if (last && c->program.plt)
		return take_stubs(c);
	if (row->word) {
		r = rule_pool_of_word(&c->builder->rows.rules, row->word, &number);
		return r ? r : table_builder_row(c->builder, row->start, number);
	}
	/* no word holds it: it is the row that the program was run to */
	bobbin_cfi_rows_rule(&c->program, &rule);
	return table_builder_rule(c->builder, row->start, &rule);
}

static int run_program(struct compilation *c, uint64_t end)
{
	struct bobbin_cfi_word rows[WORDS];
	struct bobbin_error error;
	int r = 0;

	while (c->program.end < end && !r) {
		int count = bobbin_cfi_rows_fill(&c->program, &error, rows, WORDS);

		if (count < 0)
			return take_refusal(c, c->program.end, error.reason);
		c->rows += (unsigned int)count;
		for (int i = 0; i < count && !r; i++)
			r = take_row(c, &rows[i], i + 1 == count);
	}
	return r;
}

static int take_fde(struct compilation *c, const struct listed_fde *listed)
{
	struct bobbin_error error;
	int r = table_builder_begin(c->builder, listed->start);

	if (r)
		return r;
	if (listed_fde_start(c->views, listed, &error, &c->program))
		r = take_refusal(c, listed->start, error.reason);
	else
		r = run_program(c, listed->end);
	return r ? r : table_builder_end(c->builder, listed->end);
}

int compile_cfi_rows(const struct bobbin_cfi_view *views, unsigned int count,
		     struct table_builder *builder, uint64_t *rows)
{
	struct compilation c = {.builder = builder, .views = views};
	struct fde_list list;
	int r = fde_list_init(views, count, &list);

	if (r)
		return r;
	for (size_t i = 0; i < list.count && !r; i++)
		r = take_fde(&c, &list.fdes[i]);
	fde_list_fini(&list);
	if (rows)
		*rows = c.rows;
	return r;
}

int compile_cfi(const struct bobbin_cfi_view *views, unsigned int count, const uint8_t *build_id,
		size_t build_id_len, uint64_t limit, uint64_t *rows, uint8_t **data, uint64_t *size)
{
	struct table_builder builder;
	int r = table_builder_init(views->arch, build_id, build_id_len, &builder);

	builder.limit = limit;
	if (!r)
		r = compile_cfi_rows(views, count, &builder, rows);
	if (!r)
		r = table_builder_make(&builder, data, size);
	table_builder_fini(&builder);
	return r;
}

/* The rows of SFrame sections, which go to a builder. */
struct sframe_rows {
	const struct table_sources *sources;
	struct table_builder *builder;
	bool low; /* there are functions in the lower half of all addresses */
};

/* Rows that repeat from the start to the end of a function. */
static int put_repeated(struct table_builder *b, const struct listed_function *f,
			const struct rule_rows *rows)
{
	const uint64_t end = f->start + f->size, before = rows->row[f->first].start - f->start;
	int r = 0;

	for (uint64_t block = f->start; block < end && !r; block += f->rep_size) {
		if (block > f->start && before)
			r = table_builder_repeat(b, block, RULE_NONE);
		for (size_t i = f->first; i < f->first + f->count && !r; i++) {
			uint64_t at = block + (rows->row[i].start - f->start);
			uint32_t rule;

			if (at >= end)
				return 0;
			r = rule_pool_of_rule(&b->rows.rules, rule_rows_rule(rows, i), &rule);
			if (!r)
				r = table_builder_repeat(b, at, rule);
		}
	}
	return r;
}

static int put_rows(struct table_builder *b, const struct listed_function *f,
		    const struct rule_rows *rows)
{
	int r = 0;

	if (f->rep_size && f->count)
		return put_repeated(b, f, rows);
	for (size_t i = f->first; i < f->first + f->count && !r; i++)
		r = table_builder_rule(b, rows->row[i].start, rule_rows_rule(rows, i));
	return r;
}

static bool is_mistaken(const struct table_sources *sources, const struct listed_function *f,
			const struct rule_rows *rows)
{
	return sources->sane_stubs && f->rep_size && f->count &&
	       rows->row[f->first].start == f->start &&
	       !sframe_stub_rule_is_sane(sources->arch, rule_rows_rule(rows, f->first));
}

/* Functions come in order, and do not overlap. */
static int put_function(void *ctx, const struct listed_function *f, const struct rule_rows *rows)
{
	struct sframe_rows *to = ctx;
	int r;

	if (is_mistaken(to->sources, f, rows))
		return 0;
	/* distances have a sign, by which functions in both halves are in no order */
	if ((int64_t)f->start < 0 && to->low)
		return -EBADMSG;
	to->low |= (int64_t)f->start >= 0;
	r = table_builder_begin(to->builder, f->start);
	if (!r && (!f->count || rows->row[f->first].start > f->start))
		r = table_builder_row(to->builder, f->start, RULE_NONE);
	if (!r)
		r = put_rows(to->builder, f, rows);
	if (!r)
		r = table_builder_end(to->builder, f->start + f->size);
	/* addresses that wrap around are in no order */
	return r == -EINVAL ? -EBADMSG : r;
}

static int sframe_rows(const struct table_sources *sources, struct table_builder *b)
{
	struct sframe_rows rows = {sources, b, false};
	const struct merge_options options = {
		.version = 3,
		.report = sources->report,
		.ctx = sources->ctx,
		.take = put_function,
		.take_ctx = &rows,
	};
	struct merge_stats stats;

	return merge_sections(sources->sframe, sources->sframe_count, &options, &stats, NULL, NULL);
}

static int add_cfi(const struct table_sources *sources, struct table_builder *b)
{
	struct table_builder under;
	int r = table_builder_init(sources->arch, NULL, 0, &under);

	if (!r)
		r = compile_cfi_rows(sources->cfi, sources->cfi_count, &under, NULL);
	if (!r)
		r = table_builder_underlay(b, &under);
	table_builder_fini(&under);
	return r;
}

int table_sources_rows(const struct table_sources *sources, struct table_builder *builder)
{
	int r = 0;

	if (!sources->sframe_count)
		return compile_cfi_rows(sources->cfi, sources->cfi_count, builder, NULL);
	r = sframe_rows(sources, builder);
	return r || !sources->cfi_count ? r : add_cfi(sources, builder);
}

/*
 * Functions that others cover are never found. Any other that is dropped or clipped makes a
 * difference.
 */
static void note_difference(void *ctx, const struct merge_report *report)
{
	bool *differs = ctx;

	if (report->size &&
	    (report->fate != MERGE_DROPPED || (report->reason != BOBBIN_REASON_SFRAME_COVERED &&
					       report->reason != BOBBIN_REASON_SFRAME_DUPLICATE)))
		*differs = true;
}

int compile_sframe(const struct bobbin_sframe_view *views, unsigned int count, uint64_t limit,
		   uint8_t **data, uint64_t *size)
{
	bool differs = false;
	const struct table_sources sources = {
		.arch = views->arch,
		.sframe = views,
		.sframe_count = count,
		.sane_stubs = true,
		.report = note_difference,
		.ctx = &differs,
	};
	struct table_builder builder;
	int r = table_builder_init(views->arch, NULL, 0, &builder);

	builder.limit = limit;
	if (!r)
		r = table_sources_rows(&sources, &builder);
	if (!r && differs)
		r = -EBADMSG;
	if (!r)
		r = table_builder_make(&builder, data, size);
	table_builder_fini(&builder);
	return r;
}
