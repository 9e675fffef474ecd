/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * top_page.h - the rows of a live table, for a view.
 *
 *	report, view ──► rows in order, and the call graph of one of them
 *
 * A page has copies of all names, so the report may go on.  Lines are counted from the first
 * row on; those of the call graph follow its row:
 *
 *	0  first row
 *	1  expanded row
 *	2  …   of its call graph
 *	3  …
 *	4  third row
 */
#ifndef BOBBIN_EXPORT_TOP_PAGE_H
#define BOBBIN_EXPORT_TOP_PAGE_H

#include "base/name_pool.h"
#include "export/report.h"
#include "export/top_view.h"

/* Rows that a page has at most, the first ones in its order; and lines of the call graph. */
#define TOP_PAGE_ROWS 4096
#define TOP_PAGE_GRAPH 1024

/**
 * struct top_row - a function
 * @id: stays from page to page; never 0
 * @symbol: @dso: its name and its file
 * @comm: @process: whose it is, NULL where that does not matter
 * @kernel: code of the kernel
 * @self: @total: weights, as struct report_entry has them
 */
struct top_row {
	uint64_t id;
	const char *symbol, *dso, *comm, *process;
	bool kernel;
	uint64_t self, total;
};

/**
 * struct top_page - a table
 * @weight: of everything, to which the rows' weights are shares
 * @matched: rows that there are for the view; @n_rows of them are here
 * @expanded: the row that @graph belongs to, n_rows for none
 */
struct top_page {
	uint64_t weight;
	struct top_row *rows;
	size_t n_rows, matched, expanded;
	char **graph;
	size_t n_graph;
	char *graph_text;
	struct name_pool names;
};

/* 0 or -ENOMEM: then there is nothing to free. */
int top_page_init(const struct report *report, const struct top_view *view, struct top_page *ret);
void top_page_fini(struct top_page *page);

/* What the view's keys move in, where the screen has @height lines for the table. */
struct top_lines top_page_lines(const struct top_page *page, const struct top_view *view,
				size_t height);

/* A line: a row, or NULL and *@graph, a line of the call graph; both NULL after the last. */
const struct top_row *top_page_line(const struct top_page *page, size_t line, const char **graph);

/* Let the cursor that was on a row's call graph, or its row, stay there on the next page. */
void top_page_follow(const struct top_page *before, const struct top_page *now,
		     struct top_view *view);

#endif
