/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/fde_list.h"
#include "text/vector.h"

/* A function of a section, with the numbers of both. */
struct range {
	uint64_t start, end;
	uint32_t view, index;
};

/**
 * struct walk - a comparison on its way
 * @c: as given
 * @functions, @function_count: of all sections, by start
 * @passed: those that start at or before the address that is compared
 * @pending: the difference that may go on at the next address
 */
struct walk {
	struct comparison *c;
	struct range *functions;
	size_t function_count, function_room, passed;
	struct comparison_difference pending;
};

bool comparison_equal(const struct bobbin_rule *a, const struct bobbin_rule *b)
{
	/* nobody asks an outermost frame for more */
	if (a->ra.how == BOBBIN_UNDEFINED && b->ra.how == BOBBIN_UNDEFINED)
		return true;
	return bobbin_rule_equal(a, b);
}

static void report_pending(struct walk *w)
{
	struct comparison *c = w->c;
	const struct comparison_difference *d = &w->pending;

	if (d->start >= d->end)
		return;
	c->ranges[d->kind]++;
	c->bytes[d->kind] += d->end - d->start;
	if (c->differ)
		c->differ(c->ctx, d);
	w->pending.end = w->pending.start;
}

static bool continues(const struct comparison_difference *a, const struct comparison_difference *b)
{
	return a->start < a->end && a->end == b->start && a->kind == b->kind &&
	       a->error.offset == b->error.offset && bobbin_rule_equal(&a->cfi, &b->cfi) &&
	       bobbin_rule_equal(&a->sframe, &b->sframe);
}

static void differ(struct walk *w, const struct comparison_difference *d)
{
	if (continues(&w->pending, d)) {
		w->pending.end = d->end;
		return;
	}
	report_pending(w);
	w->pending = *d;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int list_functions(struct walk *w, uint32_t number)
{
	const struct bobbin_sframe_view *view = &w->c->sframe[number];
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		if (bobbin_sframe_fde(view, i, NULL, &fde) || !fde.size)
			continue;
		if (vector_reserve(&w->functions, &w->function_room, w->function_count + 1,
				   sizeof(*w->functions)))
			return -ENOMEM;
		w->functions[w->function_count++] = (struct range){fde.start, fde.start + fde.size,
								   number, i};
	}
	return 0;
}

/* The number of functions that start at or before an address; addresses ascend. */
static size_t functions_up_to(struct walk *w, uint64_t addr)
{
	while (w->passed < w->function_count && w->functions[w->passed].start <= addr)
		w->passed++;
	return w->passed;
}

/* The first start of a function behind an address, or @end. */
static uint64_t next_function(struct walk *w, uint64_t addr, uint64_t end)
{
	size_t next = functions_up_to(w, addr);

	return next < w->function_count ? w->functions[next].start : end;
}

/* Where the first row of the function at @addr holds, if it is late, or its end. */
static uint64_t next_first_row(struct walk *w, uint64_t addr, uint64_t end)
{
	size_t next = functions_up_to(w, addr);
	const struct range *range = next ? &w->functions[next - 1] : NULL;
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;
	uint64_t off;

	if (!range || addr >= range->end)
		return next_function(w, addr, end);
	if (bobbin_sframe_fde(&w->c->sframe[range->view], range->index, NULL, &fde) ||
	    !fde.num_fres ||
	    bobbin_sframe_fre(&w->c->sframe[range->view], &fde, fde.fre_off, NULL, &fre))
		return range->end;
	off = fde.pcmask ? (addr - fde.start) % fde.rep_size : addr - fde.start;
	return fre.start > off ? addr + (fre.start - off) : range->end;
}

/* As the lookup of one section, in all of them. */
static int look_up(const struct walk *w, uint64_t addr, struct bobbin_error *err,
		   struct bobbin_row *ret)
{
	for (unsigned int i = 0; i < w->c->sframe_count; i++) {
		int r = bobbin_sframe_lookup(&w->c->sframe[i], addr, err, ret);

		if (r != -ENOENT || err->reason == BOBBIN_NO_ROW)
			return r;
	}
	return -ENOENT;
}

/*
 * The sections' row at @addr, or how there is none; in both cases up to where.
 * Where a function starts, another one or another section may have a say.
 */
static int next_row(struct walk *w, uint64_t addr, uint64_t end, struct bobbin_error *err,
		    struct bobbin_row *ret)
{
	uint64_t next = next_function(w, addr, end);
	int r = look_up(w, addr, err, ret);

	if (r == -ENOENT && err->reason == BOBBIN_NO_FUNCTION)
		ret->end = next;
	else if (r)
		ret->end = next_first_row(w, addr, end);
	if (ret->end > next)
		ret->end = next;
	if (ret->end > end)
		ret->end = end;
	return r;
}

/* Compare from @start to @end, in which the call-frame information says one thing. */
static void compare_range(struct walk *w, uint64_t start, uint64_t end,
			  const struct bobbin_rule *rule)
{
	bool none = rule->cfa.how == BOBBIN_NO_RULE;

	for (uint64_t addr = start; addr < end;) {
		struct comparison_difference d = {.start = addr, .cfi = *rule};
		struct bobbin_row row;
		int r = next_row(w, addr, end, &d.error, &row);

		d.end = addr = row.end;
		if (r == -EBADMSG) {
			d.kind = COMPARISON_UNREADABLE;
			differ(w, &d);
			continue;
		}
		d.error = (struct bobbin_error){0};
		if (!r)
			d.sframe = row.rule;
		if (!r ? !none && comparison_equal(rule, &row.rule) : none)
			continue;
		d.kind = r ? COMPARISON_MISSING : none ? COMPARISON_EXTRA : COMPARISON_DIFFERENT;
		differ(w, &d);
	}
}

/* A lazy-binding stub's rule depends on the address. */
static void compare_stubs(struct walk *w, const struct bobbin_cfi_view *view,
			  const struct bobbin_cfi_fde *fde, uint64_t start, uint64_t end)
{
	while (start < end) {
		struct bobbin_row part;

		if (bobbin_cfi_fde_lookup(view, fde, start, NULL, &part) || part.end <= start)
			return;
		compare_range(w, start, part.end < end ? part.end : end, &part.rule);
		start = part.end;
	}
}

static void compare_fde(struct walk *w, const struct listed_fde *listed)
{
	const struct bobbin_cfi_view *view = &w->c->cfi[listed->view];
	struct bobbin_rule none = bobbin_rule_none(BOBBIN_NO_ROW);
	struct bobbin_error error = {0};
	struct bobbin_cfi_fde fde;
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	uint64_t done = listed->start;
	int r = bobbin_cfi_fde(view, listed->offset, &error, &fde);

	if (!r)
		r = bobbin_cfi_rows_init(view, &fde, &error, &rows);
	while (!r && bobbin_cfi_rows_next(&rows, &error, &row) > 0) {
		uint64_t start = row.start < listed->start ? listed->start : row.start;
		uint64_t end = row.end > listed->end ? listed->end : row.end;

		if (start >= end)
			continue;
		w->c->rows++;
		done = end;
		if (rows.plt)
			compare_stubs(w, view, &fde, start, end);
		else
			compare_range(w, start, end, &row.rule);
	}
	/* what the program does not come to say */
	none.reason = (uint8_t)(error.reason ? error.reason : BOBBIN_NO_ROW);
	compare_range(w, done, listed->end, &none);
}

static void compare_all(struct walk *w, const struct fde_list *list)
{
	const struct bobbin_rule none = bobbin_rule_none(BOBBIN_NO_FUNCTION);
	uint64_t done = 0;

	for (size_t i = 0; i < list->count; i++) {
		compare_range(w, done, list->fdes[i].start, &none);
		compare_fde(w, &list->fdes[i]);
		done = list->fdes[i].end;
	}
	compare_range(w, done, UINT64_MAX, &none);
	report_pending(w);
}

int comparison_run(struct comparison *comparison)
{
	struct walk w = {.c = comparison};
	struct fde_list list;
	int r = fde_list_init(comparison->cfi, comparison->cfi_count, &list);

	if (r)
		return r;
	for (unsigned int i = 0; i < comparison->sframe_count && !r; i++)
		r = list_functions(&w, i);
	if (!r) {
		if (w.functions)
			qsort(w.functions, w.function_count, sizeof(*w.functions), by_start);
		compare_all(&w, &list);
	}
	free(w.functions);
	fde_list_fini(&list);
	return r;
}
