/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/section_repair.h"

#include <stdlib.h>

#include "convert/comparison.h"
#include "convert/row_walk.h"
#include "sframe/layout.h"

/**
 * struct extent - the rows of a section according to its functions
 * @whole: all of them can be read
 * @end: offset after their last byte, from the section's first
 * @rows: their number
 */
struct extent {
	bool whole;
	uint64_t end, rows;
};

struct section_walk section_walk(uint8_t *data, uint64_t size, uint64_t addr)
{
	return (struct section_walk){
		.data = data,
		.size = size,
		.addr = addr,
		.rows_left = MERGE_ROWS_ALWAYS + MERGE_ROWS_PER_BYTE * size,
	};
}

static void put_u32(uint8_t *at, uint64_t value, bool big_endian)
{
	bytes_store(at, value > UINT32_MAX ? UINT32_MAX : value, 4, big_endian);
}

/* Change the count for which a header was refused; the others are sane. */
static bool change_count(uint8_t *header, uint64_t size, uint64_t field)
{
	bool big_endian = header[0] == SFRAME_MAGIC >> 8;
	uint64_t after = SFRAME_HEADER_SIZE + (uint64_t)header[SFRAME_AT_AUX_LEN];
	uint64_t fdes = after + load_u32(header + SFRAME_AT_FDE_OFF, big_endian);
	uint64_t fres = after + load_u32(header + SFRAME_AT_FRE_OFF, big_endian);

	if (field == SFRAME_AT_NUM_FDES)
		put_u32(header + field, (fres - fdes) / sframe_fde_size_of(header[2]), big_endian);
	else if (field == SFRAME_AT_FRE_LEN)
		put_u32(header + field, size - fres, big_endian);
	else
		return false;
	return true;
}

/* The next header that can be read, at or after @pos. */
static bool find_header(const struct section_walk *walk, uint64_t *pos)
{
	struct bobbin_sframe_view view;

	for (uint64_t at = *pos; at + SFRAME_HEADER_SIZE <= walk->size; at++) {
		uint32_t magic = load_u16(walk->data + at, false);

		if ((magic == SFRAME_MAGIC || magic == (SFRAME_MAGIC >> 8 | 0xe200)) &&
		    !bobbin_sframe_view(walk->data + at, walk->size - at, 0, NULL, &view)) {
			*pos = at;
			return true;
		}
	}
	return false;
}

/* Correct the header at @walk->pos, or skip it; false at the end. */
static bool get_past(struct section_walk *walk, const struct bobbin_error *error)
{
	uint64_t field = error->offset - walk->pos;

	walk->note(walk->ctx, error->offset, error->reason);
	if (error->reason == BOBBIN_REASON_SFRAME_HEADER &&
	    change_count(walk->data + walk->pos, walk->size - walk->pos, field))
		return true;
	walk->pos++;
	return find_header(walk, &walk->pos);
}

static bool read_rows(struct section_walk *walk, const struct bobbin_sframe_view *view,
		      const struct bobbin_sframe_fde *fde, struct extent *extent)
{
	struct row_walk rows = row_walk(view, fde);
	struct bobbin_sframe_row row;
	struct bobbin_error error;
	int r;

	while ((r = row_walk_next(&rows, &error, &row)) > 0 && walk->rows_left)
		walk->rows_left--;
	if (rows.offset > extent->end)
		extent->end = rows.offset;
	extent->rows += fde->num_fres;
	return !r;
}

static struct extent measure(struct section_walk *walk, const struct bobbin_sframe_view *view)
{
	struct extent extent = {.whole = true, .end = view->fre_off};
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		if (bobbin_sframe_fde(view, i, NULL, &fde) || !read_rows(walk, view, &fde, &extent))
			extent.whole = false;
	}
	return extent;
}

/* Skip zero bytes: where the bytes end or a section begins, or 0. */
static uint64_t boundary(const struct section_walk *walk, uint64_t at)
{
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_next(walk->data, walk->size, 0, &at, NULL, &view);

	if (r < 0)
		return 0;
	return r ? at - view.size : walk->size;
}

static void move_end(struct section_walk *walk, struct bobbin_sframe_view *view, uint64_t end)
{
	view->fre_len = (uint32_t)(end - view->fre_off);
	view->size = end;
	walk->pos = (uint64_t)(view->data - walk->data) + end;
}

/* Move the end to that of the rows. */
static void fit_end(struct section_walk *walk, struct bobbin_sframe_view *view)
{
	uint64_t begin = (uint64_t)(view->data - walk->data), at = begin + SFRAME_AT_FRE_LEN;
	struct extent extent = measure(walk, view), wide_extent;
	struct bobbin_sframe_view wide = *view;

	if (extent.rows != view->num_fres && extent.whole)
		walk->note(walk->ctx, begin + SFRAME_AT_NUM_FRES, BOBBIN_REASON_SFRAME_COUNT);
	if (extent.whole && boundary(walk, begin + extent.end) &&
	    boundary(walk, begin + extent.end) < walk->pos) {
		walk->note(walk->ctx, at, BOBBIN_REASON_SFRAME_UNUSED);
		move_end(walk, view, extent.end);
	}
	if (extent.whole)
		return;
	wide.size = walk->size - begin;
	if (wide.size - wide.fre_off > UINT32_MAX)
		wide.size = wide.fre_off + UINT32_MAX;
	wide.fre_len = (uint32_t)(wide.size - wide.fre_off);
	wide_extent = measure(walk, &wide);
	if (wide_extent.whole && wide_extent.end > view->size &&
	    boundary(walk, begin + wide_extent.end)) {
		walk->note(walk->ctx, at, BOBBIN_REASON_SFRAME_ROWS_OUTSIDE);
		move_end(walk, view, wide_extent.end);
	}
}

/* By the distance from the section, as lookups search. */
static bool ascends(const struct bobbin_sframe_view *view)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	int64_t last = INT64_MIN;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t entry = view->fde_off + (uint64_t)i * view->fde_size;
		int64_t distance = (int64_t)(sframe_fde_start(&fdes, entry) - view->addr);

		if (distance < last)
			return false;
		last = distance;
	}
	return true;
}

int section_walk_next(struct section_walk *walk, struct bobbin_sframe_view *ret)
{
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	int r;

	while ((r = bobbin_sframe_next(walk->data, walk->size, walk->addr, &walk->pos, &error,
				       &view)) < 0)
		if (!get_past(walk, &error))
			return 0;
	if (!r)
		return 0;
	fit_end(walk, &view);
	if (!ascends(&view))
		walk->note(walk->ctx, (uint64_t)(view.data - walk->data) + SFRAME_AT_FLAGS,
			   view.sorted ? BOBBIN_REASON_SFRAME_ORDER
				       : BOBBIN_REASON_SFRAME_UNSORTED);
	*ret = view;
	return 1;
}

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
