/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as SFrame sections that stand back to back, to be put right and
 * merged.
 *
 * Contract: what comes out is sorted, without overlaps, and can be read; each PC
 * has the rule of the first section with a function that holds it and can be
 * read, or none; functions are kept, clipped or dropped as reported; and merging
 * the result once more changes nothing.
 */
#include "convert/merger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/promise.h"
#include "convert/row_walk.h"
#include "convert/section_repair.h"
#include "sframe/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x400000
#define MAX_VIEWS 8
/* Bounds on the work of the plain search, so that sweeps stay fast. */
#define MAX_FDES 48
#define MAX_FRES 64

struct input {
	struct bobbin_sframe_view views[MAX_VIEWS];
	uint32_t count;
	bool inexpressible;
	uint64_t reports;
};

static void note(void *ctx, uint64_t offset, enum bobbin_reason reason)
{
	const uint64_t *size = ctx;

	promise(offset <= *size);
	promise(reason > BOBBIN_REASON_NONE && reason < BOBBIN_REASON_COUNT);
}

static void take_report(void *ctx, const struct merge_report *report)
{
	struct input *in = ctx;

	promise(report->view < in->count);
	promise(report->offset <= in->views[report->view].size);
	promise(report->reason > BOBBIN_REASON_NONE && report->reason < BOBBIN_REASON_COUNT);
	promise((report->fate == MERGE_DROPPED) == !report->left);
	promise(report->left < report->size || !report->size);
	in->inexpressible |= report->reason == BOBBIN_REASON_SFRAME_RULE ||
			     report->reason == BOBBIN_REASON_SFRAME_REACH;
	in->reports++;
}

/* Whether all rows can be read, and the rule for an offset, if there is one. */
static bool read_function(const struct bobbin_sframe_view *view,
			  const struct bobbin_sframe_fde *fde, uint32_t off,
			  struct bobbin_rule *rule, bool *found)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	struct bobbin_error error;
	bool any = false;
	int r;

	*found = false;
	if (fde->pcmask) {
		off %= fde->rep_size;
		if (fde->num_fres > 256)
			return false;
	}
	while ((r = row_walk_next(&walk, &error, &row)) > 0) {
		any |= row.start < sframe_fre_limit(fde);
		if (row.start <= off) {
			*rule = row.rule;
			*found = true;
		}
	}
	if (!fde->num_fres && view->version < 3)
		return false;
	if (!fde->num_fres && !fde->signal) {
		struct bobbin_sframe_fre none = {.offset = fde->fre_off};

		*found = !bobbin_sframe_rule(view, fde, &none, NULL, rule);
	}
	return !r && (any || !fde->num_fres);
}

/* The last start among the functions of a section that hold a PC and can be read. */
static bool search(const struct bobbin_sframe_view *view, uint64_t pc, struct bobbin_rule *ret,
		   bool *found)
{
	uint64_t best = 0;
	bool any = false;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;
		struct bobbin_rule rule;
		bool has_rule;

		if (bobbin_sframe_fde(view, i, NULL, &fde) || pc < fde.start ||
		    pc - fde.start >= fde.size || (any && fde.start < best) ||
		    !read_function(view, &fde, (uint32_t)(pc - fde.start), &rule, &has_rule))
			continue;
		best = fde.start;
		any = true;
		*found = has_rule;
		if (has_rule)
			*ret = rule;
	}
	return any;
}

/* The first section with a function says what holds. */
static bool find_rule(const struct input *in, uint64_t pc, struct bobbin_rule *rule)
{
	bool found;

	for (uint32_t i = 0; i < in->count; i++) {
		if (search(&in->views[i], pc, rule, &found))
			return found;
	}
	return false;
}

static void compare_pc(const struct input *in, const struct bobbin_sframe_view *result, uint64_t pc)
{
	struct bobbin_rule rule;
	struct bobbin_row row;
	int r = bobbin_sframe_lookup(result, pc, NULL, &row);

	promise(r == 0 || r == -ENOENT);
	if (in->inexpressible)
		return;
	promise(find_rule(in, pc, &rule) == !r);
	promise(r || bobbin_rule_equal(&rule, &row.rule));
}

static void compare_function(const struct input *in, const struct bobbin_sframe_view *view,
			     const struct bobbin_sframe_fde *fde,
			     const struct bobbin_sframe_view *result)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	struct bobbin_error error;

	compare_pc(in, result, fde->start - 1);
	compare_pc(in, result, fde->start);
	compare_pc(in, result, fde->start + fde->size / 2);
	compare_pc(in, result, fde->start + fde->size - 1);
	compare_pc(in, result, fde->start + fde->size);
	for (unsigned int i = 0; i < MAX_FRES && row_walk_next(&walk, &error, &row) > 0; i++) {
		compare_pc(in, result, fde->start + row.start);
		compare_pc(in, result, fde->start + fde->rep_size + row.start - 1);
	}
}

static void compare(const struct input *in, const struct bobbin_sframe_view *result)
{
	struct bobbin_sframe_fde fde;
	uint64_t fdes = 0, fres = 0;

	for (uint32_t i = 0; i < in->count; i++)
		fdes += in->views[i].num_fdes;
	if (fdes > MAX_FDES)
		return;
	for (uint32_t i = 0; i < in->count; i++)
		fres += in->views[i].size;
	if (fdes * fres > 1 << 17)
		return;
	for (uint32_t i = 0; i < in->count; i++)
		for (uint32_t k = 0; k < in->views[i].num_fdes; k++)
			if (!bobbin_sframe_fde(&in->views[i], k, NULL, &fde))
				compare_function(in, &in->views[i], &fde, result);
}

/* Lookups rely on it that no code lies 2^63 bytes away; half of that is enough here. */
static bool in_reach(const struct bobbin_sframe_view *view)
{
	const int64_t most = INT64_MAX / 2;
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		promise(bobbin_sframe_fde(view, i, NULL, &fde) == 0);
		if ((int64_t)(fde.start - view->addr) < -most ||
		    (int64_t)(fde.start - view->addr) > most)
			return false;
	}
	return true;
}

/* Addresses may wrap around: what ascends is the distance from the section. */
static void promised_order(const struct bobbin_sframe_view *view)
{
	struct bobbin_sframe_fde fde;
	int64_t end = INT64_MIN;

	promise(view->sorted);
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		promise(bobbin_sframe_fde(view, i, NULL, &fde) == 0);
		promise(fde.size && (int64_t)(fde.start - view->addr) >= end);
		end = (int64_t)(fde.start - view->addr) + fde.size;
	}
}

static void merge_again(const struct bobbin_sframe_view *result, struct merge_options options)
{
	struct input in = {.views = {*result}, .count = 1};
	struct merge_stats stats;
	uint8_t *data;
	uint64_t size;
	int r;

	options.ctx = &in;
	r = merge_sections(in.views, 1, &options, &stats, &data, &size);
	if (r == -E2BIG)
		return; /* what was shared is less in bytes now */
	promise(r == 0 && !in.reports);
	promise(size == result->size && !memcmp(data, result->data, size));
	free(data);
}

static void merge(struct input *in, bool share, unsigned int version)
{
	const struct merge_options options = {
		.version = version,
		.share = share,
		.addr = ADDRESS,
		.report = take_report,
		.ctx = in,
	};
	struct bobbin_sframe_view result;
	struct merge_stats stats;
	uint8_t *data;
	uint64_t size;
	int r = merge_sections(in->views, in->count, &options, &stats, &data, &size);

	promise(r == 0 || r == -E2BIG || r == -EINVAL);
	if (r)
		return;
	promise(bobbin_sframe_view(data, size, ADDRESS, NULL, &result) == 0);
	promise(result.size == size && result.num_fdes == stats.pieces);
	promise(in->reports == stats.clipped + stats.dropped);
	if (in_reach(&result)) {
		promised_order(&result);
		compare(in, &result);
	}
	merge_again(&result, options);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct section_walk walk = section_walk(bytes, size, ADDRESS);
	struct input in = {.count = 0};
	uint64_t bound = size;

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	walk.note = note;
	walk.ctx = &bound;
	while (in.count < MAX_VIEWS && section_walk_next(&walk, &in.views[in.count]))
		in.count++;
	if (in.count)
		merge(&in, size & 1, 2 + (size >> 1 & 1));
	free(bytes);
	return 0;
}
