/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/claims.h"
#include "convert/fde_list.h"
#include "convert/function_list.h"
#include "convert/row_walk.h"
#include "core/bisect.h"
#include "sframe/layout.h"

static int read_rows(struct rule_rows *rows, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, struct bobbin_error *err)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	int r;

	rows->count = 0;
	walk.limit = sframe_fre_limit(fde);
	while ((r = row_walk_next(&walk, err, &row)) > 0)
		if (rule_rows_put(rows, fde->start + row.start, &row.rule))
			return -ENOMEM;
	return r;
}

/*
 * Decode a function and all of its rows, which replace those in @rows.  Rows that cover no PC are
 * left out; at each PC they give the same rule as lookups.  1; 0 for a function that covers no PC;
 * -EBADMSG; -ENOMEM.
 */
static int function_rows_read(struct rule_rows *rows, const struct bobbin_sframe_view *view,
			      uint32_t index, struct bobbin_error *err, struct listed_function *ret)
{
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (!r)
		r = read_rows(rows, view, &fde, err);
	if (r)
		return r;
	*ret = (struct listed_function){
		.start = fde.start,
		.size = fde.size,
		.rep_size = fde.rep_size,
		.signal = fde.signal,
		.count = (uint32_t)rows->count,
	};
	/* V3: without any row from the start a function has no caller; that is an answer */
	return fde.size && (rows->count || (!fde.num_fres && view->version >= 3));
}

/*
 * Which functions of several sections lookups find, and where.
 *
 *	view 0	     ├─────────┤    ├──┤
 *	view 1	├────────┤  ├──────────────┤
 *	parts	   1      0   1     0   1
 *
 * For lookups of all addresses: in an unsorted section, or in many sections, each lookup reads
 * all functions.
 */

/**
 * struct lookup_map - all functions
 * @views: as given
 * @parts, @count: ascend and do not overlap; between them no section has a function
 * @long_part: of the last function with very many rows, or NULL
 * @rows: of that function
 * @decoded, @status, @error: that function, or why it cannot be decoded
 */
struct lookup_map {
	const struct bobbin_sframe_view *views;
	struct claim *parts;
	size_t count;
	const struct claim *long_part;
	struct rule_rows rows;
	struct listed_function decoded;
	int status;
	struct bobbin_error error;
};

/* Functions with so many rows are decoded once for all lookups. */
#define MANY_ROWS 1024

/* The functions with code of a view, in the order of its table.  Their number. */
static size_t list_functions(const struct bobbin_sframe_view *view, uint32_t number,
			     struct claim *ret)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t entry = view->fde_off;
	size_t count = 0;

	for (uint32_t i = 0; i < view->num_fdes; i++, entry += view->fde_size) {
		uint64_t start = sframe_fde_start(&fdes, entry);
		uint32_t size = sframe_fde_size(&fdes, entry);
		uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;

		if (start < end)
			ret[count++] = (struct claim){start, end, number, i};
	}
	return count;
}

static bool ascends(const struct bobbin_sframe_view *view, const struct claim *functions,
		    size_t count)
{
	for (size_t i = 1; i < count; i++)
		if ((int64_t)(functions[i].start - view->addr) <
		    (int64_t)(functions[i - 1].start - view->addr))
			return false;
	return true;
}

/* A search finds the function that starts last, and none that starts before it. */
static void clip(struct claim *functions, size_t count)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = count; i-- > 0;) {
		if (i + 1 < count && functions[i + 1].start != functions[i].start)
			next = functions[i + 1].start;
		if (next > functions[i].start && next < functions[i].end)
			functions[i].end = next;
	}
}

static size_t list_all(const struct bobbin_sframe_view *views, uint32_t count, struct claim *ret)
{
	size_t all = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct claim *functions = ret + all;
		size_t listed = list_functions(&views[i], i, functions);

		if (views[i].sorted && ascends(&views[i], functions, listed))
			clip(functions, listed);
		all += listed;
	}
	return all;
}

static bool are_apart(const struct claim *parts, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (parts[i].start < parts[i - 1].end)
			return false;
	return true;
}

/*
 * Map @count sections, which are borrowed; the first that has a function at an address counts.
 * In a section that claims to be sorted and is not, lookups can miss a function of the map. n
 * log n.  0, -ENOMEM.
 */
static int lookup_map_init(const struct bobbin_sframe_view *views, uint32_t count,
			   struct lookup_map *ret)
{
	struct lookup_map map = {.views = views};
	uint64_t functions = 0;

	for (uint32_t i = 0; i < count; i++)
		functions += views[i].num_fdes;
	if (functions >= UINT32_MAX)
		return -ENOMEM;
	map.parts = calloc(functions + 1, sizeof(*map.parts));
	if (map.parts)
		map.count = list_all(views, count, map.parts);
	if (!map.parts ||
	    (!are_apart(map.parts, map.count) && claims_settle(&map.parts, &map.count)) ||
	    rule_rows_init(&map.rows)) {
		free(map.parts);
		return -ENOMEM;
	}
	*ret = map;
	return 0;
}

/* Decode a function with very many rows, unless it is there.  false: lookups must do. */
static bool decode(struct lookup_map *map, const struct claim *part)
{
	const struct bobbin_sframe_view *view = &map->views[part->view];
	const struct claim *last = map->long_part;
	struct bobbin_sframe_fde fde;

	if (last && last->view == part->view && last->index == part->index)
		return true;
	if (bobbin_sframe_fde(view, part->index, NULL, &fde) || fde.num_fres < MANY_ROWS ||
	    fde.pcmask)
		return false;
	map->status = function_rows_read(&map->rows, view, part->index, &map->error, &map->decoded);
	map->long_part = map->status == -ENOMEM ? NULL : part;
	return map->long_part;
}

/* The last row that starts at or before an address; false: all start after it. */
static bool find_row(const struct lookup_map *map, uint64_t addr, struct bobbin_row *ret)
{
	const struct rule_rows *rows = &map->rows;
	const struct listed_function *f = &map->decoded;
	size_t after = bisect(i, 0, rows->count, rows->row[i].start > addr);

	if (!after)
		return false;
	*ret = (struct bobbin_row){
		.start = rows->row[after - 1].start,
		.end = after < rows->count ? rows->row[after].start : f->start + f->size,
		.function = f->start,
		.rule = *rule_rows_rule(rows, after - 1),
	};
	return true;
}

/*
 * bobbin_sframe_lookup() for an address in a part of the map.  Functions with very many
 * rows, which lookups scan from the first, are decoded once; if one of their rows is
 * malformed, all are.
 */
static int lookup_map_row(struct lookup_map *map, const struct claim *part, uint64_t addr,
			  struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_sframe_view view = map->views[part->view];

	if (decode(map, part)) {
		if (map->status > 0 && find_row(map, addr, ret))
			return 0;
		*err = map->status < 0 ? map->error
				       : (struct bobbin_error){0, BOBBIN_REASON_NO_ROW};
		return map->status < 0 ? map->status : -ENOENT;
	}
	if (!view.sorted) {
		view.fde_off += (uint64_t)part->index * view.fde_size;
		view.num_fdes = 1;
	}
	return bobbin_sframe_lookup(&view, addr, err, ret);
}

static void lookup_map_fini(struct lookup_map *map)
{
	free(map->parts);
	rule_rows_fini(&map->rows);
	*map = (struct lookup_map){0};
}

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
 * @added: added rows that start before the current address
 * @pending: the difference that may continue at the next address
 * @differences: so far, before adjacent ones become one
 * @repeated: those of repeated rows
 */
struct walk {
	struct comparison *c;
	struct lookup_map map;
	struct bobbin_cfi_rows program;
	size_t passed, added;
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

static void compare_added(struct walk *w, uint64_t start, uint64_t end, uint64_t word)
{
	struct saying said = {0};

	bobbin_rule_unpack(word, &said.rule);
	compare_range(w, start, end, &said);
}

/* Between functions of the call-frame information: what was added there. */
static void compare_between(struct walk *w, uint64_t start, uint64_t end)
{
	const struct added_rows *added = &w->c->added;

	for (; w->added < added->count && added->row[w->added].start < end; w->added++) {
		const struct added_row *row = &added->row[w->added];
		const uint64_t stop = row->end < end ? row->end : end;

		if (stop <= start)
			continue;
		compare_none(w, start, row->start, BOBBIN_REASON_NO_FUNCTION);
		compare_added(w, row->start > start ? row->start : start, stop, row->word);
		start = stop;
	}
	compare_none(w, start, end, BOBBIN_REASON_NO_FUNCTION);
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
		compare_between(w, done, list->fdes[i].start);
		compare_fde(w, &list->fdes[i]);
		done = list->fdes[i].end;
	}
	compare_between(w, done, UINT64_MAX);
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

int comparison_prove(const struct bobbin_cfi_view *cfi, unsigned int count,
		     const struct added_rows *added, const void *data, uint64_t size, uint64_t addr)
{
	struct comparison c = {.cfi = cfi, .cfi_count = count, .sframe_count = 1};
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_view(data, size, addr, NULL, &view);

	if (r)
		return r;
	if (added)
		c.added = *added;
	c.sframe = &view;
	r = comparison_run(&c);
	if (r)
		return r;
	return c.ranges[COMPARISON_DIFFERENT] || c.ranges[COMPARISON_EXTRA] ||
			       c.ranges[COMPARISON_UNREADABLE]
		       ? -EBADMSG
		       : 0;
}
