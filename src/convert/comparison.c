/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/comparison.h"

#include <errno.h>

#include "convert/fde_list.h"
#include "convert/lookup_map.h"

/*
 * Differences of repeated rows that are counted; one more stands for the rest of the function.
 */
#define MAX_REPEATED 65536

/**
 * struct walk - a comparison on its way
 * @c: as given
 * @map: of all sections
 * @program: of the call-frame information at hand
 * @passed: parts of it that end at or before the current address
 * @pending: the difference that may continue at the next address
 * @differences: so far, before adjacent ones become one
 * @repeated: those of repeated rows
 */
struct walk {
	struct comparison *c;
	struct lookup_map map;
	struct bobbin_cfi_rows program;
	size_t passed;
	struct comparison_difference pending;
	uint64_t differences, repeated;
};

/**
 * struct saying - the rule of call-frame information for a range
 * @rule: a rule, or none with its reason
 * @push: 0, or of lazy-binding stubs, whose rule depends on the address; see
 *	struct bobbin_cfi_rows
 */
struct saying {
	struct bobbin_rule rule;
	uint8_t push;
};

/**
 * struct stretch - addresses that are compared at once
 * @part: bytes to compare
 * @end: end of their function, or start of the next one
 * @repeats: the bytes after them, up to @end, repeat them
 * @varies: the call-frame information does not repeat
 */
struct stretch {
	uint64_t part, end;
	bool repeats, varies;
};

bool comparison_equal(const struct bobbin_rule *a, const struct bobbin_rule *b)
{
	/* an outermost frame needs nothing else */
	if (a->ra.how == BOBBIN_HOW_UNDEFINED && b->ra.how == BOBBIN_HOW_UNDEFINED)
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
	/* what SFrame lacks is one difference, whatever the rules are */
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

/* The part that holds an address, or the next one, or NULL; addresses ascend. */
static const struct claim *part_from(struct walk *w, uint64_t addr)
{
	while (w->passed < w->map.count && w->map.parts[w->passed].end <= addr)
		w->passed++;
	return w->passed < w->map.count ? &w->map.parts[w->passed] : NULL;
}

/* Where the first row of a part's function holds next, if it is late, or the part's end. */
static uint64_t next_first_row(const struct walk *w, const struct claim *part, uint64_t addr)
{
	const struct bobbin_sframe_view *view = &w->c->sframe[part->view];
	struct bobbin_sframe_fde fde;
	struct bobbin_sframe_fre fre;
	uint64_t off;

	if (bobbin_sframe_fde(view, part->index, NULL, &fde) || !fde.num_fres ||
	    bobbin_sframe_fre(view, &fde, fde.fre_off, NULL, &fre))
		return part->end;
	off = fde.pcmask ? (addr - fde.start) % fde.rep_size : addr - fde.start;
	return fre.start > off ? addr + (fre.start - off) : part->end;
}

/* The sections' row at @addr, or why there is none; in both cases, up to where. */
static int next_row(struct walk *w, uint64_t addr, uint64_t end, struct bobbin_error *err,
		    struct bobbin_row *ret)
{
	const struct claim *part = part_from(w, addr);
	int r = -ENOENT;

	ret->end = end;
	if (part && part->start <= addr) {
		r = lookup_map_row(&w->map, part, addr, err, ret);
		if (r)
			ret->end = next_first_row(w, part, addr);
		if (ret->end > part->end)
			ret->end = part->end;
	} else if (part) {
		ret->end = part->start;
	}
	if (ret->end > end)
		ret->end = end;
	return r;
}

/* Compare from @start to @end, in which the call-frame information has one rule. */
static void compare_rule(struct walk *w, uint64_t start, uint64_t end,
			 const struct bobbin_rule *rule)
{
	bool none = rule->cfa.how == BOBBIN_HOW_NO_RULE;

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

/* What to compare next, from @start on. */
static struct stretch stretch_at(struct walk *w, uint64_t start, uint64_t end, bool stubs)
{
	struct stretch s = {.end = end, .varies = stubs};
	const struct claim *part = part_from(w, start);
	bool inside = part && part->start <= start;
	struct bobbin_sframe_fde fde = {0};

	if (part && (inside ? part->end : part->start) < end)
		s.end = inside ? part->end : part->start;
	if (inside)
		s.repeats = !bobbin_sframe_fde(&w->c->sframe[part->view], part->index, NULL,
					       &fde) &&
			    fde.pcmask;
	s.part = s.end - start;
	if (stubs && s.part > STUB_SIZE)
		s.part = STUB_SIZE;
	if (s.repeats && s.end - start > (uint64_t)STUB_SIZE * fde.rep_size)
		s.part = (uint64_t)STUB_SIZE * fde.rep_size;
	return s;
}

/*
 * Compare from @start to @end.  Repeated rows are compared once if they are right.  If they
 * are wrong, each repetition is a difference, up to a limit.
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
	const struct saying none = {.rule = bobbin_rule_none(reason ? (enum bobbin_reason)reason
								    : BOBBIN_REASON_NO_ROW)};

	compare_range(w, start, end, &none);
}

static void compare_fde(struct walk *w, const struct listed_fde *listed)
{
	struct bobbin_error error = {0};
	struct bobbin_row row;
	uint64_t done = listed->start;
	int r = listed_fde_start(w->c->cfi, listed, &error, &w->program);

	while (!r && bobbin_cfi_rows_next(&w->program, &error, &row) > 0) {
		const struct saying said = {.rule = row.rule, .push = w->program.plt};

		w->c->rows++;
		done = row.end;
		compare_range(w, row.start, row.end, &said);
	}
	/* what the program did not reach */
	compare_none(w, done, listed->end, (uint8_t)error.reason);
}

static void compare_all(struct walk *w, const struct fde_list *list)
{
	uint64_t done = 0;

	for (size_t i = 0; i < list->count; i++) {
		compare_none(w, done, list->fdes[i].start, BOBBIN_REASON_NO_FUNCTION);
		compare_fde(w, &list->fdes[i]);
		done = list->fdes[i].end;
	}
	compare_none(w, done, UINT64_MAX, BOBBIN_REASON_NO_FUNCTION);
	report_pending(w);
}

int comparison_run(struct comparison *comparison)
{
	struct walk w = {.c = comparison};
	struct fde_list list;
	int r = fde_list_init(comparison->cfi, comparison->cfi_count, &list);

	if (r)
		return r;
	r = lookup_map_init(comparison->sframe, comparison->sframe_count, &w.map);
	if (!r)
		compare_all(&w, &list);
	lookup_map_fini(&w.map);
	fde_list_fini(&list);
	return r;
}

int comparison_prove(const struct bobbin_cfi_view *cfi, unsigned int count, const void *data,
		     uint64_t size, uint64_t addr)
{
	struct comparison c = {.cfi = cfi, .cfi_count = count, .sframe_count = 1};
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_view(data, size, addr, NULL, &view);

	if (r)
		return r;
	c.sframe = &view;
	r = comparison_run(&c);
	if (r)
		return r;
	return c.ranges[COMPARISON_DIFFERENT] || c.ranges[COMPARISON_EXTRA] ||
			       c.ranges[COMPARISON_UNREADABLE]
		       ? -EBADMSG
		       : 0;
}
