/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/correction.h"

#include <stdlib.h>

#include "convert/comparison.h"

/**
 * struct patch - a section with only the corrected rules
 * @maker: the section
 * @list: the function that may go on
 * @start, @end: of that function
 * @status: the first failure
 */
struct patch {
	const struct correction *correction;
	struct section_maker maker;
	struct function_list list;
	uint64_t start, end;
	int status;
};

static void end_function(struct patch *p)
{
	struct listed_function f = {
		.start = p->start,
		.size = (uint32_t)(p->end - p->start),
		.count = (uint32_t)p->list.rows.count,
	};

	if (!f.count || p->status)
		return;
	f.signal = rule_rows_rule(&p->list.rows, 0)->flags & BOBBIN_RULE_SIGNAL;
	p->status = function_list_add(&p->list, &f);
	if (!p->status)
		p->status = function_list_move(&p->list, &p->maker);
}

/* Whether a rule can be one more row of the function: the forms must not mix. */
static bool goes_on(const struct patch *p, const struct comparison_difference *d)
{
	const struct rule_rows *rows = &p->list.rows;
	const struct bobbin_rule *first;

	if (!rows->count || rows->count >= BOBBIN_SFRAME_MAX_ROWS || p->end != d->start ||
	    d->end - p->start > UINT32_MAX)
		return false;
	first = rule_rows_rule(rows, 0);
	return first->flags == d->cfi.flags && first->cfa.how == d->cfi.cfa.how;
}

static bool single_row_fits(const struct patch *p, const struct comparison_difference *d)
{
	return d->end - d->start <= UINT32_MAX &&
	       bobbin_sframe_builder_can_express(&p->maker.builder, &d->cfi);
}

static void take(void *ctx, const struct comparison_difference *d)
{
	struct patch *p = ctx;
	bool fits;

	if (d->kind != COMPARISON_DIFFERENT || p->status)
		return;
	fits = single_row_fits(p, d);
	if (p->correction->corrected)
		p->correction->corrected(p->correction->ctx, d->start, d->end, fits);
	if (!fits)
		return;
	if (!goes_on(p, d)) {
		end_function(p);
		p->start = d->start;
	}
	if (!p->status)
		p->status = rule_rows_put(&p->list.rows, d->start, &d->cfi);
	p->end = d->end;
}

static int find_contradictions(struct patch *p, const struct bobbin_sframe_view *view)
{
	struct comparison comparison = {
		.cfi = p->correction->cfi,
		.cfi_count = p->correction->cfi_count,
		.sframe = view,
		.sframe_count = 1,
		.differ = take,
		.ctx = p,
	};
	int r = comparison_run(&comparison);

	end_function(p);
	return r ? r : p->status;
}

/* The patch precedes the section. */
static int apply(struct patch *p, const struct bobbin_sframe_view *view, uint8_t **data,
		 uint64_t *size)
{
	struct bobbin_sframe_view views[2] = {[1] = *view};
	struct merge_options options = p->correction->options;
	struct merge_stats stats;
	uint8_t *bytes;
	uint64_t length;
	int r = section_maker_finish(&p->maker, &bytes, &length);

	if (r)
		return r;
	options.report = NULL;
	options.texts = NULL;
	r = bobbin_sframe_view(bytes, length, options.addr, NULL, &views[0]);
	if (!r)
		r = merge_sections(views, 2, &options, &stats, data, size);
	free(bytes);
	return r;
}

int correct_section(const struct correction *correction, const struct bobbin_sframe_view *view,
		    uint8_t **data, uint64_t *size)
{
	const struct merge_options *options = &correction->options;
	struct patch patch = {.correction = correction};
	int r = section_maker_init(view->arch, options->addr, options->version, false, 16,
				   &patch.maker);

	if (r)
		return r;
	r = function_list_init(&patch.maker.builder, 1, &patch.list);
	if (!r)
		r = find_contradictions(&patch, view);
	if (!r)
		r = apply(&patch, view, data, size);
	function_list_fini(&patch.list);
	section_maker_fini(&patch.maker);
	return r;
}
