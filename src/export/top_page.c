/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/top_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "export/report_entries.h"
#include "export/report_graph.h"

/* Branches of the call graph that are not shown: a part of the row's weight, in per cent. */
#define GRAPH_LIMIT 2.0

/* The making of a page. */
struct making {
	const struct top_view *view;
	struct report_entries all;
	const struct report_entry **lines;
	struct top_page page;
};

static struct report_options options_of(const struct top_view *view)
{
	bool by_process = view->sort == TOP_PID || *view->filters[TOP_FILTER_PID];
	struct report_options options = {
		.keys = {REPORT_SYM, REPORT_DSO, REPORT_COMM, REPORT_PID},
		.n_keys = 2,
	};

	if (by_process)
		options.n_keys = 4;
	else if (view->sort == TOP_COMM || *view->filters[TOP_FILTER_COMM])
		options.n_keys = 3;
	return options;
}

static bool has(const char *name, const char *wanted)
{
	return !*wanted || (name && strcasestr(name, wanted));
}

static bool is_shown(const struct top_view *view, const struct report_entry *entry)
{
	const char *pid = view->filters[TOP_FILTER_PID];

	if (entry->kernel ? view->hide_kernel : view->hide_user)
		return false;
	return has(entry->texts[REPORT_SYM], view->filters[TOP_FILTER_SYMBOL]) &&
	       has(entry->texts[REPORT_DSO], view->filters[TOP_FILTER_DSO]) &&
	       has(entry->texts[REPORT_COMM], view->filters[TOP_FILTER_COMM]) &&
	       (!*pid || !strcmp(entry->texts[REPORT_PID], pid));
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : 0;
}

/* Numbers of processes; none comes last. */
static int compare_processes(const char *a, const char *b)
{
	unsigned long x = a ? strtoul(a, NULL, 10) : 0, y = b ? strtoul(b, NULL, 10) : 0;

	if (!x || !y)
		return !x - !y;
	return x < y ? -1 : x > y;
}

static int compare_weights(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_by(enum top_sort sort, const struct report_entry *a,
		      const struct report_entry *b)
{
	switch (sort) {
	case TOP_PID:
		return compare_processes(a->texts[REPORT_PID], b->texts[REPORT_PID]);
	case TOP_COMM:
		return compare_text(a->texts[REPORT_COMM], b->texts[REPORT_COMM]);
	case TOP_DSO:
		return compare_text(a->texts[REPORT_DSO], b->texts[REPORT_DSO]);
	case TOP_SYMBOL:
		return compare_text(a->texts[REPORT_SYM], b->texts[REPORT_SYM]);
	case TOP_SELF:
		return compare_weights(a->self, b->self);
	default:
		return compare_weights(a->children, b->children);
	}
}

static int compare_entries(const void *a, const void *b, void *ctx)
{
	static const enum top_sort further[] = {TOP_TOTAL, TOP_SELF, TOP_SYMBOL,
						TOP_DSO,   TOP_COMM, TOP_PID};
	const struct report_entry *x = *(const struct report_entry *const *)a;
	const struct report_entry *y = *(const struct report_entry *const *)b;
	const struct making *m = ctx;
	int order = compare_by(m->view->sort, x, y);

	for (size_t i = 0; !order && i < sizeof(further) / sizeof(*further); i++)
		order = compare_by(further[i], x, y);
	return order ? order : (int)x->kernel - (int)y->kernel;
}

static uint64_t add_hash(uint64_t hash, const char *text)
{
	return text ? hash_bytes(text, strlen(text), hash) : hash + 1;
}

static uint64_t id_of(const struct report_entry *entry)
{
	uint64_t id = add_hash(add_hash(entry->kernel, entry->texts[REPORT_SYM]),
			       entry->texts[REPORT_DSO]);

	id = add_hash(add_hash(id, entry->texts[REPORT_COMM]), entry->texts[REPORT_PID]);
	return id ? id : 1;
}

static int keep(struct name_pool *names, const char *name, const char **ret)
{
	return name ? name_pool_intern(names, name, ret) : 0;
}

static int add_row(struct making *m, const struct report_entry *entry)
{
	struct top_page *page = &m->page;
	struct top_row row = {
		.id = id_of(entry),
		.kernel = entry->kernel,
		.self = entry->self,
		.total = entry->children,
	};
	int r = keep(&page->names, entry->texts[REPORT_SYM], &row.symbol);

	r = r ? r : keep(&page->names, entry->texts[REPORT_DSO], &row.dso);
	r = r ? r : keep(&page->names, entry->texts[REPORT_COMM], &row.comm);
	r = r ? r : keep(&page->names, entry->texts[REPORT_PID], &row.process);
	if (r)
		return r;
	if (row.id == m->view->expanded)
		page->expanded = page->n_rows;
	page->rows[page->n_rows++] = row;
	return 0;
}

static int add_rows(struct making *m)
{
	struct top_page *page = &m->page;
	size_t count;
	int r = 0;

	m->lines = calloc(m->all.n_entries + 1, sizeof(*m->lines));
	if (!m->lines)
		return -ENOMEM;
	for (size_t i = 0; i < m->all.n_entries; i++)
		if (is_shown(m->view, &m->all.entries[i]))
			m->lines[page->matched++] = &m->all.entries[i];
	qsort_r(m->lines, page->matched, sizeof(*m->lines), compare_entries, m);
	count = page->matched < TOP_PAGE_ROWS ? page->matched : TOP_PAGE_ROWS;
	page->rows = calloc(count + 1, sizeof(*page->rows));
	if (!page->rows)
		return -ENOMEM;
	page->expanded = SIZE_MAX;
	for (size_t i = 0; i < count && !r; i++)
		r = add_row(m, m->lines[i]);
	if (page->expanded == SIZE_MAX)
		page->expanded = page->n_rows;
	return r;
}

static int split_graph(struct top_page *page)
{
	char *line = page->graph_text, *end;

	page->graph = calloc(TOP_PAGE_GRAPH, sizeof(*page->graph));
	if (!page->graph)
		return -ENOMEM;
	/* the last one is empty */
	while ((end = strchr(line, '\n')) && end[1] && page->n_graph < TOP_PAGE_GRAPH) {
		*end = '\0';
		page->graph[page->n_graph++] = line;
		line = end + 1;
	}
	return 0;
}

/*
 * Callers of a function's own weight, or all that is above and below it; turned, the stacks down to
 * it, or its callers.
 */
static int write_graph(struct making *m, struct report_options options, FILE *out)
{
	const struct report_entry *entry = m->lines[m->page.expanded];
	uint64_t weight;

	options.no_children = m->view->sort == TOP_SELF && entry->self;
	if (m->view->turned)
		options.order = options.no_children ? REPORT_CALLER : REPORT_CALLEE;
	weight = options.no_children ? entry->self : entry->children;
	options.graph_limit = GRAPH_LIMIT * (double)weight / (double)m->page.weight;
	return report_graph_write(&m->all, entry, &options, out);
}

static int add_graph(struct making *m, const struct report_options *options)
{
	struct top_page *page = &m->page;
	size_t size;
	FILE *out;
	int r;

	if (page->expanded == page->n_rows)
		return 0;
	out = open_memstream(&page->graph_text, &size);
	if (!out)
		return -ENOMEM;
	r = write_graph(m, *options, out);
	if (fclose(out) && !r)
		r = -ENOMEM;
	return r ? r : split_graph(page);
}

int top_page_init(const struct report *report, const struct top_view *view, struct top_page *ret)
{
	struct making m = {.view = view};
	struct report_options options = options_of(view);
	int r = report_entries_init(report_tree(report), &options, &m.all);

	if (r)
		return r;
	m.page.weight = call_tree_total(report_tree(report));
	name_pool_init(&m.page.names);
	r = add_rows(&m);
	if (!r)
		r = add_graph(&m, &options);
	free(m.lines);
	report_entries_fini(&m.all);
	if (r)
		top_page_fini(&m.page);
	else
		*ret = m.page;
	return r;
}

void top_page_fini(struct top_page *page)
{
	free(page->rows);
	free(page->graph);
	free(page->graph_text);
	name_pool_fini(&page->names);
	*page = (struct top_page){0};
}

const struct top_row *top_page_line(const struct top_page *page, size_t line, const char **graph)
{
	*graph = NULL;
	if (line > page->expanded && line <= page->expanded + page->n_graph) {
		*graph = page->graph[line - page->expanded - 1];
		return NULL;
	}
	if (line > page->expanded)
		line -= page->n_graph;
	return line < page->n_rows ? &page->rows[line] : NULL;
}

/* The line of the row that a line belongs to. */
static size_t row_line(const struct top_page *page, size_t line)
{
	return line > page->expanded && line <= page->expanded + page->n_graph ? page->expanded
									       : line;
}

struct top_lines top_page_lines(const struct top_page *page, const struct top_view *view,
				size_t height)
{
	const char *graph;
	const struct top_row *row = top_page_line(page, row_line(page, view->cursor), &graph);

	return (struct top_lines){
		.count = page->n_rows + page->n_graph,
		.height = height ? height : 1,
		.row = row ? row->id : 0,
	};
}

void top_page_follow(const struct top_page *before, const struct top_page *now,
		     struct top_view *view)
{
	size_t past;

	if (before->expanded == before->n_rows || now->expanded == now->n_rows ||
	    row_line(before, view->cursor) != before->expanded)
		return;
	past = view->cursor - before->expanded;
	if (past > now->n_graph)
		past = now->n_graph;
	/* where it was on the screen */
	view->first += now->expanded - before->expanded;
	if (view->first > now->expanded + past)
		view->first = 0;
	view->cursor = now->expanded + past;
}
