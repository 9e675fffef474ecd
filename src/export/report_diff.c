/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/vector.h"
#include "export/report_columns.h"
#include "export/report_entries.h"
#include "export/report_line.h"
#include "export/safe_text.h"

/**
 * struct diff_line - what is the same in both profiles
 * @entry: of the one that had it first; its strings are one of the trees'
 * @before, @after: its own weights
 */
struct diff_line {
	struct report_entry entry;
	uint64_t before, after;
};

struct diff {
	struct report_options options;
	struct report_columns columns;
	const struct report_diff_side *sides[2];
	uint64_t totals[2];
	struct diff_line *lines;
	size_t line_count, line_room;
	struct hash_index index;
	uint64_t seed;
};

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return text ? hash_bytes(text, strlen(text), seed) : seed;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_entry(const struct report_entry *a, const struct report_entry *b)
{
	return a->kernel == b->kernel && same_text(a->texts[REPORT_SYM], b->texts[REPORT_SYM]) &&
	       same_text(a->texts[REPORT_COMM], b->texts[REPORT_COMM]) &&
	       (a->texts[REPORT_DSO] == b->texts[REPORT_DSO] ||
		same_text(report_file_name(a->texts[REPORT_DSO]),
			  report_file_name(b->texts[REPORT_DSO])));
}

static int find_line(struct diff *d, const struct report_entry *entry, uint32_t *ret)
{
	uint64_t hash = hash_text(entry->texts[REPORT_SYM], d->seed);
	size_t at = 0;

	hash = hash_text(entry->texts[REPORT_COMM], hash);
	hash = hash_text(
		entry->texts[REPORT_DSO] ? report_file_name(entry->texts[REPORT_DSO]) : NULL, hash);
	while (hash_index_next(&d->index, hash, &at, ret))
		if (same_entry(&d->lines[*ret].entry, entry))
			return 0;
	*ret = (uint32_t)d->line_count;
	return hash_index_push(&d->index, hash, d->lines, d->line_count, d->line_room,
			       (struct diff_line){.entry = *entry});
}

static int add_side(struct diff *d, const struct report_entries *all, bool is_after)
{
	int r = 0;

	for (size_t i = 0; i < all->n_entries && !r; i++) {
		uint32_t line;

		if (!all->entries[i].self)
			continue;
		r = find_line(d, &all->entries[i], &line);
		if (!r && is_after)
			d->lines[line].after += all->entries[i].self;
		else if (!r)
			d->lines[line].before += all->entries[i].self;
	}
	return r;
}

static int64_t change(const struct diff *d, const struct diff_line *line)
{
	return report_share(line->after, d->totals[1]) - report_share(line->before, d->totals[0]);
}

static int compare_lines(const void *a, const void *b, void *ctx)
{
	const struct diff *d = ctx;
	const struct diff_line *x = a, *y = b;
	const int64_t left = llabs(change(d, x)), right = llabs(change(d, y));

	if (left != right)
		return left > right ? -1 : 1;
	if (x->before != y->before)
		return x->before > y->before ? -1 : 1;
	return report_entry_compare(&x->entry, &y->entry);
}

/* Those that are shown come first.  How many these are. */
static size_t choose_lines(struct diff *d)
{
	size_t count = 0;

	if (d->line_count)
		qsort_r(d->lines, d->line_count, sizeof(*d->lines), compare_lines, d);
	while (count < d->line_count &&
	       (double)llabs(change(d, &d->lines[count])) >= d->options.percent_limit * 100)
		report_columns_measure(&d->columns, &d->lines[count++].entry);
	return count;
}

static void write_side(const char *what, const struct report_diff_side *side, FILE *out)
{
	fprintf(out, "# %s: %" PRIu64 " samples, ", what, side->samples);
	safe_text_plain(out, side->path);
	putc('\n', out);
}

static void write_header(const struct diff *d, FILE *out)
{
	fputs("# Event '", out);
	safe_text_plain(out, d->options.event ? d->options.event : "samples");
	fputs("'\n", out);
	write_side("Baseline", d->sides[0], out);
	write_side("Compared", d->sides[1], out);
	fputs("#\n", out);
	report_columns_titles(&d->columns, "Baseline     Delta", "........  ........", out);
}

static void write_line(const struct diff *d, const struct diff_line *line, FILE *out)
{
	const int64_t points = change(d, line);
	char before[REPORT_PERCENT_SIZE] = "", delta[REPORT_PERCENT_SIZE];

	if (line->before)
		report_percent(before, line->before, d->totals[0]);
	report_hundredths(delta, (unsigned int)llabs(points));
	fprintf(out, "  %8s %*s%c%s", before, (int)(8 - strlen(delta)), "",
		points < 0   ? '-'
		: points > 0 ? '+'
			     : ' ',
		delta);
	report_columns_write(&d->columns, &line->entry, out);
}

static void write_all(struct diff *d, FILE *out)
{
	const size_t count = choose_lines(d);
	char limit[REPORT_PERCENT_SIZE];

	write_header(d, out);
	for (size_t i = 0; i < count; i++)
		write_line(d, &d->lines[i], out);
	fputs("\n#\n", out);
	if (count < d->line_count) {
		report_limit(limit, d->options.percent_limit);
		fprintf(out, "# Changes below %s that are left out: %zu\n", limit,
			d->line_count - count);
	}
	fputs("#\n", out);
}

int report_diff_write(const struct report_diff_side *before, const struct report_diff_side *after,
		      const struct report_options *options, FILE *out)
{
	struct diff d = {.options = *options, .sides = {before, after}, .seed = hash_seed()};
	struct report_entries all[2] = {0};
	int r = 0;

	report_options_complete(&d.options);
	report_columns_init(&d.columns, &d.options);
	for (size_t i = 0; i < 2 && !r; i++) {
		const struct call_tree *tree = report_tree(d.sides[i]->report);

		d.totals[i] = call_tree_total(tree);
		r = report_entries_init(tree, &d.options, &all[i]);
		if (!r)
			r = add_side(&d, &all[i], i == 1);
	}
	if (!r)
		write_all(&d, out);
	report_entries_fini(&all[0]);
	report_entries_fini(&all[1]);
	hash_index_fini(&d.index);
	free(d.lines);
	return r;
}
