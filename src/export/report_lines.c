/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "export/report_columns.h"

static uint64_t weight_of(const struct report_options *options, const struct report_entry *entry)
{
	return options->no_children || options->first_screen ? entry->self : entry->children;
}

static int compare_lines(const void *a, const void *b, void *ctx)
{
	const struct report_entry *x = *(const struct report_entry *const *)a;
	const struct report_entry *y = *(const struct report_entry *const *)b;
	const uint64_t left = weight_of(ctx, x), right = weight_of(ctx, y);

	if (left != right)
		return left > right ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return report_entry_compare(x, y);
}

static bool is_shown(const struct report_lines *lines, const struct report_options *options,
		     const struct report_entry *entry)
{
	double total = (double)call_tree_total(lines->all.tree);
	uint64_t weight = weight_of(options, entry);

	return weight && (double)weight * 100 >= options->percent_limit * total;
}

static void leave_out(struct report_lines *lines, const struct report_entry *entry)
{
	lines->left_out += entry->self;
	lines->left_out_count++;
}

static int choose_lines(struct report_lines *lines, const struct report_options *options)
{
	lines->lines = calloc(lines->all.n_entries + 1, sizeof(*lines->lines));
	if (!lines->lines)
		return -ENOMEM;
	for (size_t i = 0; i < lines->all.n_entries; i++) {
		const struct report_entry *entry = &lines->all.entries[i];

		if (is_shown(lines, options, entry))
			lines->lines[lines->count++] = entry;
		else if (weight_of(options, entry))
			leave_out(lines, entry);
	}
	qsort_r(lines->lines, lines->count, sizeof(*lines->lines), compare_lines, (void *)options);
	while (options->first_screen && lines->count > REPORT_FIRST_LINES)
		leave_out(lines, lines->lines[--lines->count]);
	return 0;
}

int report_lines_init(const struct call_tree *tree, const struct report_options *options,
		      struct report_lines *ret)
{
	struct report_lines lines = {0};
	int r = report_entries_init(tree, options, &lines.all);

	if (r)
		return r;
	r = choose_lines(&lines, options);
	if (r)
		report_lines_fini(&lines);
	else
		*ret = lines;
	return r;
}

void report_lines_fini(struct report_lines *lines)
{
	free(lines->lines);
	report_entries_fini(&lines->all);
	*lines = (struct report_lines){0};
}
