/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/fde_list.h"
#include "text/vector.h"

/* Lazy-binding stubs have this size, and a push of this many bytes in them. */
#define STUB_SIZE 16
#define STUB_PUSH 8
/* Exact differences of what repeats; the next one stands for all up to the function's end. */
#define MAX_REPEATED 65536

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
 * @differences: told so far, before those that go on become one
 * @repeated: those of them where something repeats
 */
struct walk {
	struct comparison *c;
	struct range *functions;
	size_t function_count, function_room, passed;
	struct comparison_difference pending;
	uint64_t differences, repeated;
};

/**
 * struct saying - what the call-frame information says about a range
 * @rule: a rule, or none with its reason
 * @push: 0, or of lazy-binding stubs, whose rule depends on the address; see
 *	struct bobbin_cfi_rows
 */
struct saying {
	struct bobbin_rule rule;
	uint8_t push;
};

/**
 * struct stretch - what can be compared at once
 * @part: bytes to compare
 * @end: where the function ends that holds them, or the next one starts
 * @repeats: what is behind them up to @end repeats them
 * @varies: the call-frame information does, at least
 */
struct stretch {
	uint64_t part, end;
	bool repeats, varies;
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
	if (a->start >= a->end || a->end != b->start || a->kind != b->kind ||
	    a->error.offset != b->error.offset)
		return false;
	/* where there is nothing, it does not matter what there should be */
	return a->kind == COMPARISON_MISSING ||
	       (bobbin_rule_equal(&a->cfi, &b->cfi) && bobbin_rule_equal(&a->sframe, &b->sframe));
}

static void differ(struct walk *w, const struct comparison_difference *d)
{
	w->differences++;
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

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->view < y->view ? -1 : x->view > y->view;
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

/* As the lookup of one section, in all of them; @view: which one knows. */
static int look_up(const struct walk *w, uint64_t addr, struct bobbin_error *err,
		   struct bobbin_row *ret, uint32_t *view)
{
	for (*view = 0; *view < w->c->sframe_count; ++*view) {
		int r = bobbin_sframe_lookup(&w->c->sframe[*view], addr, err, ret);

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
	uint32_t view;
	int r = look_up(w, addr, err, ret, &view);

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

/* Compare from @start to @end, in which the call-frame information has one rule. */
static void compare_rule(struct walk *w, uint64_t start, uint64_t end,
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

static void compare_part(struct walk *w, uint64_t start, uint64_t end, const struct saying *said)
{
	if (!said->push)
		compare_rule(w, start, end, &said->rule);
	while (said->push && start < end) {
		uint64_t off = start % STUB_SIZE;
		bool pushed = off >= said->push;
		uint64_t left = (pushed ? STUB_SIZE : said->push) - off;
		uint64_t stop = end - start < left ? end : start + left;
		struct bobbin_rule rule = said->rule;

		if (pushed)
			rule.cfa.off += STUB_PUSH;
		compare_rule(w, start, stop, &rule);
		start = stop;
	}
}

/* The function whose rows hold at an address, or the last one that starts before it. */
static const struct range *function_at(const struct walk *w, uint64_t addr)
{
	const struct range *first = w->functions, *range;
	struct bobbin_error error;
	struct bobbin_row row;
	uint32_t view;

	if (!w->passed)
		return NULL;
	range = first + w->passed;
	if (w->c->sframe_count == 1 && addr < range[-1].end)
		return range - 1;
	if (look_up(w, addr, &error, &row, &view))
		return range - 1;
	while (range > first && !(range[-1].start == row.function && range[-1].view == view))
		range--;
	return range > first ? range - 1 : NULL;
}

/* What to compare next, from @start on. */
static struct stretch stretch_at(struct walk *w, uint64_t start, uint64_t end, bool stubs)
{
	struct stretch s = {.end = next_function(w, start, end), .varies = stubs};
	const struct range *range = function_at(w, start);
	struct bobbin_sframe_fde fde = {0};

	if (s.end > end)
		s.end = end;
	if (range && start < range->end &&
	    !bobbin_sframe_fde(&w->c->sframe[range->view], range->index, NULL, &fde) &&
	    fde.pcmask) {
		s.repeats = true;
		if (s.end > range->end)
			s.end = range->end;
	}
	s.part = s.end - start;
	if (stubs && s.part > STUB_SIZE)
		s.part = STUB_SIZE;
	if (s.repeats && s.end - start > (uint64_t)STUB_SIZE * fde.rep_size)
		s.part = (uint64_t)STUB_SIZE * fde.rep_size;
	return s;
}

/*
 * Compare from @start to @end.  What repeats is compared once if it is right;
 * if it is wrong, each time is a difference of its own, but no endless number.
 */
static void compare_range(struct walk *w, uint64_t start, uint64_t end, const struct saying *said)
{
	while (start < end) {
		const struct stretch s = stretch_at(w, start, end, said->push);
		uint64_t before = w->differences;

		compare_part(w, start, start + s.part, said);
		start += s.part;
		if (s.repeats && before == w->differences)
			start += (s.end - start) / s.part * s.part;
		if (s.repeats || s.varies)
			w->repeated += w->differences - before;
		if (w->repeated > MAX_REPEATED && before != w->differences && start < s.end) {
			struct comparison_difference d = w->pending;

			d.start = start;
			d.end = start = s.end;
			differ(w, &d);
		}
	}
}

static void compare_none(struct walk *w, uint64_t start, uint64_t end, uint8_t reason)
{
	const struct saying none = {
		.rule = bobbin_rule_none(reason ? (enum bobbin_reason)reason : BOBBIN_NO_ROW)};

	compare_range(w, start, end, &none);
}

static void compare_fde(struct walk *w, const struct listed_fde *listed)
{
	const struct bobbin_cfi_view *view = &w->c->cfi[listed->view];
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
		const struct saying said = {.rule = row.rule, .push = rows.plt};

		if (start >= end)
			continue;
		w->c->rows++;
		done = end;
		compare_range(w, start, end, &said);
	}
	/* what the program does not come to say */
	compare_none(w, done, listed->end, (uint8_t)error.reason);
}

static void compare_all(struct walk *w, const struct fde_list *list)
{
	uint64_t done = 0;

	for (size_t i = 0; i < list->count; i++) {
		compare_none(w, done, list->fdes[i].start, BOBBIN_NO_FUNCTION);
		compare_fde(w, &list->fdes[i]);
		done = list->fdes[i].end;
	}
	compare_none(w, done, UINT64_MAX, BOBBIN_NO_FUNCTION);
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
