/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_sources.h"

#include <errno.h>

#include "convert/function_rows.h"
#include "sframe/layout.h"
#include "table/compile_cfi.h"

/* Rows that repeat from the start to the end of a function. */
static int put_repeated(struct table_builder *b, const struct listed_function *f,
			const struct rule_rows *rows)
{
	const uint64_t end = f->start + f->size, before = rows->row[0].start - f->start;
	int r = 0;

	for (uint64_t block = f->start; block < end && !r; block += f->rep_size) {
		if (block > f->start && before)
			r = table_builder_repeat(b, block, RULE_NONE);
		for (size_t i = 0; i < rows->count && !r; i++) {
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

	if (f->rep_size && rows->count)
		return put_repeated(b, f, rows);
	for (size_t i = 0; i < rows->count && !r; i++)
		r = table_builder_rule(b, rows->row[i].start, rule_rows_rule(rows, i));
	return r;
}

/* A function without rows has the rule that the format implies. */
static int put_implied(struct table_builder *b, const struct bobbin_sframe_view *view,
		       const struct listed_function *f)
{
	struct bobbin_row row;
	int r = bobbin_sframe_lookup(view, f->start, NULL, &row);

	if (r == -ENOENT)
		return table_builder_row(b, f->start, RULE_NONE);
	return r ? r : table_builder_rule(b, f->start, &row.rule);
}

static int put_function(struct table_builder *b, const struct bobbin_sframe_view *view,
			const struct listed_function *f, const struct rule_rows *rows)
{
	int r = table_builder_begin(b, f->start);

	if (r)
		return r;
	if (!rows->count)
		r = put_implied(b, view, f);
	else if (rows->row[0].start > f->start)
		r = table_builder_row(b, f->start, RULE_NONE);
	if (!r)
		r = put_rows(b, f, rows);
	return r ? r : table_builder_end(b, f->start + f->size);
}

static bool is_mistaken(const struct bobbin_sframe_view *view, const struct listed_function *f,
			const struct rule_rows *rows)
{
	return f->rep_size && rows->count && rows->row[0].start == f->start &&
	       !sframe_stub_rule_is_sane(view->arch, rule_rows_rule(rows, 0));
}

static int put_section(struct table_builder *b, const struct bobbin_sframe_view *view,
		       bool sane_stubs)
{
	struct rule_rows rows;
	int r = rule_rows_init(&rows);

	for (uint32_t i = 0; i < view->num_fdes && r >= 0; i++) {
		struct listed_function f;

		r = function_rows_read(&rows, view, i, NULL, &f);
		if (r > 0 && !(sane_stubs && is_mistaken(view, &f, &rows)))
			r = put_function(b, view, &f, &rows);
	}
	rule_rows_fini(&rows);
	/* addresses that wrap around are in no order */
	if (r == -EINVAL)
		return -EBADMSG;
	return r < 0 ? r : 0;
}

/* Merge the sections first: in the result, functions are in order and do not overlap. */
static int sframe_rows(const struct table_sources *sources, struct table_builder *b)
{
	const struct merge_options options = {
		.version = 3, .share = true, .report = sources->report, .ctx = sources->ctx};
	struct bobbin_sframe_view view;
	struct merge_stats stats;
	uint64_t size;
	uint8_t *data;
	int r = merge_sections(sources->sframe, sources->sframe_count, &options, &stats, &data,
			       &size);

	if (r)
		return r;
	r = bobbin_sframe_view(data, size, 0, NULL, &view);
	if (!r)
		r = put_section(b, &view, sources->sane_stubs);
	free(data);
	return r;
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
