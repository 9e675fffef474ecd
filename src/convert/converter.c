/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/converter.h"

#include <errno.h>

#include "convert/fde_list.h"
#include "convert/function_list.h"
#include "core/rule_word.h"

/* Rows that are read at once. */
#define WORDS 64

/**
 * struct conversion - a section in the making
 * @options, @stats, @views: as given
 * @maker: the section
 * @list: its functions
 * @first, @count: the rows at the end of the list that are collected for a function
 * @end: of the last of them
 * @listed: the FDE that is being converted; NULL: added rows are
 * @program: of it, or of an earlier one
 * @lost: it lost a row
 * @before: functions of earlier ones
 * @added: added rows that are done
 */
struct conversion {
	const struct convert_options *options;
	struct convert_stats *stats;
	const struct bobbin_cfi_view *views;
	struct section_maker maker;
	struct function_list list;
	size_t first, count;
	uint64_t end;
	const struct listed_fde *listed;
	struct bobbin_cfi_rows program;
	bool lost;
	size_t before;
	size_t added;
};

static void lose(struct conversion *c, uint64_t start, uint64_t end, enum bobbin_reason reason)
{
	const struct listed_fde *listed = c->listed;
	const struct convert_gap gap = {
		.start = start,
		.end = end,
		.added = !listed,
		.fde = listed ? listed->offset : 0,
		.debug_frame = listed && c->views[listed->view].debug_frame,
		.reason = reason,
		.rows = 1,
	};

	c->lost = true;
	if (listed) {
		c->stats->lost_rows++;
		c->stats->lost_text += end - start;
		c->stats->reasons[reason]++;
	} else {
		c->stats->lost_added++;
	}
	if (c->options->gap)
		c->options->gap(c->options->ctx, &gap);
}

static const struct rule_row *row_at(const struct conversion *c, size_t i)
{
	return &c->list.rows.row[c->first + i];
}

static uint64_t row_start(const struct conversion *c, size_t i)
{
	return row_at(c, i)->start;
}

/* Bytes of code from the first collected row to @end; if there is none, from @start. */
static uint64_t collected_size(const struct conversion *c, uint64_t start, uint64_t end)
{
	return end - (c->count ? row_start(c, 0) : start);
}

/* The address at which a collected row ends. */
static uint64_t row_end(const struct conversion *c, size_t i)
{
	return i + 1 < c->count ? row_start(c, i + 1) : c->end;
}

static bool is_signal_frame(const struct conversion *c)
{
	return c->listed && c->program.fde.signal;
}

/* All collected rows as a function. */
static int add_rows(struct conversion *c)
{
	uint64_t start = row_start(c, 0), size = c->end - start;
	struct listed_function f = {
		.start = start,
		.size = (uint32_t)size,
		.signal = is_signal_frame(c),
		.first = c->first,
		.count = (uint32_t)c->count,
	};

	return size > UINT32_MAX ? -ERANGE : function_list_add(&c->list, &f);
}

static void lose_row(void *ctx, uint64_t start, uint64_t end)
{
	lose(ctx, start, end, BOBBIN_REASON_SFRAME_REACH);
}

/* Put representable rows into few functions. */
static int add_run(struct conversion *c, size_t first, size_t count)
{
	const struct row_run run = {
		.first = c->first + first,
		.count = count,
		.end = row_end(c, first + count - 1),
		.signal = is_signal_frame(c),
		.lost = lose_row,
		.ctx = c,
	};

	return function_list_add_run(&c->list, &run);
}

/* The rows between those that SFrame cannot express; few files have any. */
static __attribute__((__noinline__)) int add_around_holes(struct conversion *c)
{
	size_t first = 0;

	for (size_t i = 0; i <= c->count; i++) {
		int r;

		if (i < c->count && function_list_expresses(&c->list, row_at(c, i)->rule))
			continue;
		r = i > first ? add_run(c, first, i - first) : 0;
		if (r)
			return r;
		if (i < c->count)
			lose(c, row_start(c, i), row_end(c, i), BOBBIN_REASON_SFRAME_RULE);
		first = i + 1;
	}
	return 0;
}

/* The collected rows become a function, or several. */
static int flush(struct conversion *c)
{
	int r = 0;

	if (c->count)
		r = add_rows(c);
	if (function_list_refused(r))
		r = add_around_holes(c);
	c->first = c->list.rows.count;
	c->count = 0;
	return r;
}

static int push(struct conversion *c, uint64_t start, uint32_t rule)
{
	return rule_rows_push(&c->list.rows, (struct rule_row){start, rule, false});
}

/* Take a row that starts where the one before ends, unless that is part of a function. */
static int collect(struct conversion *c, uint64_t start, uint64_t end, uint32_t rule)
{
	int r = 0;

	if (c->count && collected_size(c, start, end) > UINT32_MAX)
		r = flush(c);
	c->end = end;
	if (c->count && row_at(c, c->count - 1)->rule == rule)
		return r;
	c->count++;
	return r ? r : push(c, start, rule);
}

/**
 * struct stubs - lazy-binding stubs of STUB_SIZE bytes, whose CFA changes at @push
 * @rules: their numbers, before and from there on
 */
struct stubs {
	uint32_t rules[2];
	uint8_t push;
};

/* Parts of stubs, byte by byte if need be. */
static int collect_stubs(struct conversion *c, const struct stubs *stubs, uint64_t start,
			 uint64_t end)
{
	int r = 0;

	for (uint64_t at = start; at < end && !r; at++)
		r = collect(c, at, at + 1, stubs->rules[at % STUB_SIZE >= stubs->push]);
	return r;
}

static int add_repeated(struct conversion *c, const struct stubs *stubs, uint64_t start,
			uint64_t end)
{
	struct listed_function f = {
		.start = start,
		.size = (uint32_t)(end - start),
		.rep_size = STUB_SIZE,
		.signal = c->program.fde.signal,
		.first = c->list.rows.count,
		.count = 2,
	};
	int r = push(c, start, stubs->rules[0]);

	if (!r)
		r = push(c, start + stubs->push, stubs->rules[1]);
	if (!r)
		r = function_list_add(&c->list, &f);
	c->first = c->list.rows.count;
	return r;
}

/* Whole stubs: rows that repeat. */
static int add_whole_stubs(struct conversion *c, const struct stubs *stubs, uint64_t start,
			   uint64_t end)
{
	bool possible = function_list_expresses(&c->list, stubs->rules[0]);
	int r = end - start > UINT32_MAX ? -ERANGE : flush(c);

	if (!r)
		r = add_repeated(c, stubs, start, end);
	if (!function_list_refused(r))
		return r;
	r = flush(c);
	lose(c, start, end, possible ? BOBBIN_REASON_SFRAME_REACH : BOBBIN_REASON_SFRAME_RULE);
	return r;
}

/* A row of stubs: what is before the first whole one, those, and what is after them. */
static int add_stubs(struct conversion *c, const struct stubs *stubs, uint64_t first, uint64_t last)
{
	uint64_t before = -first % STUB_SIZE, size = last - first;
	uint64_t start = first + (before < size ? before : size);
	uint64_t end = start + (last - start) / STUB_SIZE * STUB_SIZE;
	int r = collect_stubs(c, stubs, first, start);

	if (!r && start < end)
		r = add_whole_stubs(c, stubs, start, end);
	return r ? r : collect_stubs(c, stubs, end, last);
}

/* The row of stubs at which the program has stopped. */
static int take_stubs(struct conversion *c)
{
	struct stubs stubs = {.push = c->program.plt};
	struct bobbin_rule rule;
	int r;

	if (c->options->floating) {
		r = flush(c);
		lose(c, c->program.start, c->program.end, BOBBIN_REASON_SFRAME_RULE);
		return r;
	}
	bobbin_cfi_rows_rule(&c->program, &rule);
	r = rule_pool_of_rule(&c->list.rows.rules, &rule, &stubs.rules[0]);
	rule.cfa.off += STUB_PUSH;
	if (!r)
		r = rule_pool_of_rule(&c->list.rows.rules, &rule, &stubs.rules[1]);
	return r ? r : add_stubs(c, &stubs, c->program.start, c->program.end);
}

/* Take the packed rules that rows begin with.  How many, or -ENOMEM. */
static int collect_words(struct conversion *c, const struct bobbin_cfi_word *rows,
			 unsigned int count)
{
	const struct bobbin_cfi_word *row = rows, *end = rows + count;
	struct rule_rows *list = &c->list.rows;
	uint32_t last = c->count ? row_at(c, c->count - 1)->rule : UINT32_MAX, rule;
	struct rule_row *to;

	if (vector_reserve(&list->row, &list->capacity, list->count + count, sizeof(*list->row)))
		return -ENOMEM;
	to = list->row + list->count;
	for (; row < end && rule_word_has_rule(row->word); row++, last = rule) {
		if (rule_pool_of_word(&list->rules, row->word, &rule))
			return -ENOMEM;
		*to = (struct rule_row){row->start, rule, false};
		to += rule != last;
	}
	if (row == rows)
		return 0;
	list->count = (size_t)(to - list->row);
	c->count = list->count - c->first;
	c->end = row < end ? row->start : c->program.end;
	return (int)(row - rows);
}

/* Take the first of several rows.  1, -errno. */
static int take_row(struct conversion *c, const struct bobbin_cfi_word *rows, unsigned int count)
{
	uint64_t end = count > 1 ? rows[1].start : c->program.end;
	struct bobbin_rule rule;
	uint32_t number;
	int r;

	if (count == 1 && c->program.plt) {
		r = take_stubs(c);
	} else if (rows->word && !rule_word_has_rule(rows->word)) {
		bobbin_rule_unpack(rows->word, &rule);
		r = flush(c);
		lose(c, rows->start, end, (enum bobbin_reason)rule.reason);
	} else if (rows->word) {
		r = rule_pool_of_word(&c->list.rows.rules, rows->word, &number);
		r = r ? r : collect(c, rows->start, end, number);
	} else {
		/* it fits into no word: the program has stopped at this row */
		bobbin_cfi_rows_rule(&c->program, &rule);
		r = rule_pool_of_rule(&c->list.rows.rules, &rule, &number);
		r = r ? r : collect(c, rows->start, end, number);
	}
	return r ? r : 1;
}

static int take_rows(struct conversion *c, const struct bobbin_cfi_word *rows, unsigned int count)
{
	bool reachable = collected_size(c, rows->start, c->program.end) <= UINT32_MAX;
	unsigned int i = 0;
	int r = 0;

	c->stats->cfi_rows += count;
	while (i < count) {
		r = reachable && !c->program.plt ? collect_words(c, rows + i, count - i) : 0;
		if (!r)
			r = take_row(c, rows + i, count - i);
		if (r < 0)
			return r;
		i += (unsigned int)r;
	}
	return 0;
}

/* The functions that were made of the FDE at hand. */
static size_t made(const struct conversion *c)
{
	return c->list.count - c->before;
}

static int run_program(struct conversion *c)
{
	struct bobbin_cfi_word rows[WORDS];
	struct bobbin_error error;
	int r;

	while (c->program.end < c->listed->end) {
		int count = bobbin_cfi_rows_fill(&c->program, &error, rows, WORDS);

		if (count < 0) {
			lose(c, c->program.end, c->listed->end, error.reason);
			break;
		}
		r = take_rows(c, rows, (unsigned int)count);
		if (r)
			return r;
	}
	return flush(c);
}

/* The format cannot express a trampoline's rule, but can mark it. */
static int mark_signal_frame(struct conversion *c)
{
	uint64_t size = c->listed->end - c->listed->start;

	if (made(c) || !c->program.fde.signal || c->options->version < 3 || size > UINT32_MAX)
		return 0;
	return function_list_add(&c->list, &(struct listed_function){.start = c->listed->start,
								     .size = (uint32_t)size,
								     .signal = true});
}

static int convert_fde(struct conversion *c)
{
	struct bobbin_error error;
	int r = listed_fde_start(c->views, c->listed, &error, &c->program);

	c->lost = false;
	c->before = c->list.count;
	c->stats->fdes++;
	c->stats->text += c->listed->end - c->listed->start;
	if (!r) {
		r = run_program(c);
		c->stats->split += made(c) > 1 || (made(c) && c->lost);
		c->stats->lost_fdes += !made(c);
		return r ? r : mark_signal_frame(c);
	}
	lose(c, c->listed->start, c->listed->end, error.reason);
	c->stats->lost_fdes++;
	return r == -EBADMSG ? mark_signal_frame(c) : r;
}

/* The added rows that start before an address; those of a function that touch are one. */
static int convert_added(struct conversion *c, uint64_t before)
{
	const struct added_rows *added = &c->options->added;
	const struct added_row *last = NULL;
	uint32_t rule;
	int r = 0;

	c->listed = NULL;
	for (; c->added < added->count && added->row[c->added].start < before && !r; c->added++) {
		const struct added_row *row = &added->row[c->added];

		if (last && (last->end != row->start || last->function != row->function))
			r = flush(c);
		if (!r)
			r = rule_pool_of_word(&c->list.rows.rules, row->word, &rule);
		if (!r)
			r = collect(c, row->start, row->end, rule);
		last = row;
	}
	return r ? r : flush(c);
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
		int r = convert_added(c, list->fdes[i].start);

		c->listed = &list->fdes[i];
		if (!r)
			r = convert_fde(c);
		if (r)
			return r;
	}
	return convert_added(c, UINT64_MAX);
}

/* The section's bytes from its functions. */
static int make_section(struct conversion *c, uint8_t **data, uint64_t *size)
{
	const struct convert_options *options = c->options;
	int r;

	if (options->keep_functions)
		r = function_list_make(&c->list, &c->maker);
	else
		r = compact_functions(&c->list, options->share, options->bounds,
				      options->bound_count, &c->maker);
	c->stats->functions = c->maker.builder.fde_count;
	c->stats->rows = c->maker.builder.num_fres;
	/* what comes now uses its memory */
	function_list_fini(&c->list);
	if (r)
		return r;
	c->maker.in_place = options->in_place;
	return section_maker_finish(&c->maker, data, size);
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
		r = section_maker_init(options->arch ? options->arch : views->arch, options->addr,
				       options->version, options->keep_functions && options->share,
				       (uint32_t)list.count, &c.maker);
	if (!r) {
		r = function_list_init(&c.maker.builder, list.count, &c.list);
		if (!r)
			r = convert_all(&c, &list);
		/* what comes now uses its memory */
		fde_list_fini(&list);
		if (!r)
			r = make_section(&c, data, size);
		function_list_fini(&c.list);
		section_maker_fini(&c.maker);
	}
	fde_list_fini(&list);
	return r;
}
