/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/repeat.h"
#include "base/vector.h"
#include "export/report_columns.h"
#include "export/report_graph.h"
#include "export/report_line.h"
#include "export/report_lines.h"
#include "export/safe_text.h"

#define COMM_BYTES 256 /* the kernel's names have 15 */
#define PATHS 8
/* A path has this part of all weight at least. */
#define LEAST 20
/* Frames of a long one that are shown, at both ends. */
#define OUTER 3
#define INNER 7
#define INDENT 12
#define WIDTH 100
#define WIDEST_NAME 60

struct report {
	struct call_tree *tree;
	struct call_frame *stack; /* scratch: a command and its frames */
	size_t stack_capacity;
	char *labels; /* scratch */
	size_t label_room;
	bool unfolded;
};

/* One writing of a report. */
struct page {
	const struct report *report;
	struct report_options options;
	struct report_lines lines;
	struct report_columns columns;
	FILE *out;
};

int report_open(struct report **ret)
{
	struct report *report = calloc(1, sizeof(*report));
	int r;

	if (!report)
		return -ENOMEM;
	r = call_tree_open(&report->tree);
	if (r < 0) {
		free(report);
		return r;
	}
	*ret = report;
	return 0;
}

void report_close(struct report *report)
{
	if (!report)
		return;
	call_tree_close(report->tree);
	free(report->stack);
	free(report->labels);
	free(report);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_function(const void *ctx, size_t a, size_t b)
{
	const struct call_frame *frames = ctx, *x = &frames[a], *y = &frames[b];

	if (x->kind != y->kind || x->kind == FRAME_UNKNOWN || !x->name || !*x->name)
		return false;
	return same_text(x->name, y->name) && same_text(x->dso, y->dso) &&
	       same_text(x->place, y->place);
}

size_t recursion_fold(struct call_frame *frames, size_t n)
{
	size_t left = 0, at = 0;

	while (at < n) {
		struct repeat repeat = {1, 1};

		repeat_find(same_function, frames, at, n, &repeat);
		for (size_t i = 0; i < repeat.period; i++) {
			frames[left] = frames[at + i];
			frames[left++].levels = (uint32_t)repeat.times;
		}
		at += repeat.period * repeat.times;
	}
	return left;
}

/* Makes the text of the labels, see REPORT_LABEL_GAP. */
static int join_labels(struct report *report, const struct report_origin *origin)
{
	size_t used = 0, end = 0;

	for (int key = REPORT_FIRST_LABEL; key < REPORT_LABELS_END; key++) {
		const char *label = origin->texts[key] ? origin->texts[key] : "";
		size_t length = strlen(label);
		int r = vector_reserve(&report->labels, &report->label_room, used + length + 2, 1);

		if (r)
			return r;
		memcpy(report->labels + used, label, length);
		used += length;
		if (length)
			end = used;
		report->labels[used++] = *REPORT_LABEL_GAP;
	}
	report->labels[end] = '\0';
	return 0;
}

int report_add_of(struct report *report, const struct report_origin *origin,
		  const struct call_frame *frames, size_t n, uint64_t weight)
{
	static const struct call_frame unknown = {.kind = FRAME_UNKNOWN};
	const char *comm = origin->texts[REPORT_COMM];
	char printed[COMM_BYTES];
	int r;

	if (!weight)
		return 0;
	if (comm) /* rows that look the same are one */
		comm = safe_text_printed(comm, printed, sizeof(printed));
	if (!n) {
		frames = &unknown;
		n = 1;
	}
	r = vector_reserve(&report->stack, &report->stack_capacity, n + 1, sizeof(*report->stack));
	if (!r)
		r = join_labels(report, origin);
	if (r)
		return r;
	report->stack[0] =
		(struct call_frame){.name = comm, .dso = report->labels, .kind = FRAME_COMMAND};
	memcpy(report->stack + 1, frames, n * sizeof(*frames));
	if (!report->unfolded)
		n = recursion_fold(report->stack + 1, n);
	return call_tree_add(report->tree, report->stack, n + 1, weight);
}

int report_add(struct report *report, const char *comm, const struct call_frame *frames, size_t n,
	       uint64_t weight)
{
	const struct report_origin origin = {.texts = {[REPORT_COMM] = comm}};

	return report_add_of(report, &origin, frames, n, weight);
}

void report_replace_tree(struct report *report, struct call_tree *tree)
{
	call_tree_close(report->tree);
	report->tree = tree;
}

void report_unfold(struct report *report)
{
	report->unfolded = true;
}

const struct call_tree *report_tree(const struct report *report)
{
	return report->tree;
}

static void write_header(const struct page *page)
{
	const struct report_options *options = &page->options;

	fprintf(page->out, "# Samples: %" PRIu64 " of event '", options->samples);
	safe_text_plain(page->out, options->event ? options->event : "samples");
	fprintf(page->out, "'\n# Event count (approx.): %" PRIu64 "\n#\n",
		call_tree_total(page->report->tree));
	report_columns_titles(&page->columns,
			      options->no_children ? "Overhead" : "Children      Self",
			      options->no_children ? "........" : "........  ........", page->out);
}

static int write_entry(const struct page *page, const struct report_entry *entry)
{
	uint64_t total = call_tree_total(page->report->tree);
	char children[REPORT_PERCENT_SIZE], self[REPORT_PERCENT_SIZE];

	report_percent(children, entry->children, total);
	report_percent(self, entry->self, total);
	if (page->options.no_children)
		fprintf(page->out, "  %8s", self);
	else
		fprintf(page->out, "  %8s  %8s", children, self);
	report_columns_write(&page->columns, entry, page->out);
	if (page->options.no_graph || page->options.first_screen)
		return 0;
	return report_graph_write(&page->lines.all, entry, &page->options, page->out);
}

/* Of a first screen. */
static void write_rest(const struct page *page)
{
	char share[REPORT_PERCENT_SIZE];

	report_percent(share, page->lines.left_out, call_tree_total(page->report->tree));
	fprintf(page->out, "# Functions that are left out: %zu (%s self)\n",
		page->lines.left_out_count, share);
	fputs("# All of them, with their callers and callees: --full; on the terminal: --tui\n",
	      page->out);
}

static void write_left_out(const struct page *page)
{
	char share[REPORT_PERCENT_SIZE], limit[REPORT_PERCENT_SIZE];

	if (page->lines.left_out_count) {
		report_limit(limit, page->options.percent_limit);
		report_percent(share, page->lines.left_out, call_tree_total(page->report->tree));
		fprintf(page->out, "# Entries below %s that are left out: %zu (%s self)\n", limit,
			page->lines.left_out_count, share);
	}
	if (!page->options.no_graph && page->options.graph_limit > 0) {
		report_limit(limit, page->options.graph_limit);
		fprintf(page->out, "# Branches of call graphs below %s are left out\n", limit);
	}
}

static void write_notes(const struct page *page)
{
	fputs("\n#\n", page->out);
	if (page->options.first_screen)
		write_rest(page);
	else
		write_left_out(page);
	if (page->options.notes)
		page->options.notes(page->options.ctx, page->out);
	fputs("#\n", page->out);
}

/*
 * Where most of the weight is, in a few lines:
 *
 *	   61.75%  cc1: main > toplev::main > ... 12 more ... > df_analyze > bitmap_ior
 *
 * A path goes from the outermost function inwards as far as it has a twentieth of all weight.
 */
struct path {
	uint32_t node;
	uint64_t weight;
};

struct paths {
	const struct call_tree *tree;
	uint64_t least;
	struct path heaviest[PATHS]; /* in order */
	size_t count, all;
};

static void add_path(struct paths *p, uint32_t node, uint64_t weight)
{
	size_t at;

	p->all++;
	if (p->count == PATHS && weight <= p->heaviest[PATHS - 1].weight)
		return;
	at = p->count < PATHS ? p->count++ : PATHS - 1;
	for (; at && weight > p->heaviest[at - 1].weight; at--)
		p->heaviest[at] = p->heaviest[at - 1];
	p->heaviest[at] = (struct path){node, weight};
}

/* Nodes stand after their callers. */
static int find_paths(struct paths *p)
{
	size_t size = call_tree_size(p->tree);
	bool *goes_on = calloc(size, sizeof(*goes_on));

	if (!goes_on)
		return -ENOMEM;
	for (size_t i = size - 1; i > CALL_TREE_ROOT; i--) {
		const struct call_node *n = call_tree_node(p->tree, (uint32_t)i);
		uint64_t weight = goes_on[i] ? n->self : n->total;

		if (n->total < p->least)
			continue;
		goes_on[n->parent] = true;
		if (n->depth > 1 && weight >= p->least)
			add_path(p, (uint32_t)i, weight);
	}
	free(goes_on);
	return 0;
}

/* Before a word that is this wide, on this line or the next one.  Where it begins. */
static size_t write_gap(FILE *out, size_t column, size_t width)
{
	if (column + 1 + width > WIDTH) {
		fprintf(out, "\n%*s", INDENT, "");
		return INDENT;
	}
	putc(' ', out);
	return column + 1;
}

static size_t write_name(FILE *out, size_t column, const struct call_frame *frame)
{
	const char *name = *frame->name ? frame->name : "[unknown]";
	size_t width = safe_text_columns(name);

	width = width < WIDEST_NAME ? width : WIDEST_NAME;
	column = write_gap(out, column, width + 2);
	return column + safe_text_cut(out, name, width);
}

/* @nodes: the innermost first; the last is the command's. */
static void write_frames(const struct paths *p, const uint32_t *nodes, size_t count, FILE *out)
{
	size_t column = INDENT - 1, i = count;

	while (i--) {
		const struct call_node *n = call_tree_node(p->tree, nodes[i]);

		column = write_name(out, column, call_tree_frame(p->tree, n->frame));
		if (i)
			column += (size_t)fprintf(out, i + 1 == count ? ":" : " >");
		if (i <= INNER + 1 || i != count - 1 - OUTER)
			continue;
		column = write_gap(out, column, 26);
		column += (size_t)fprintf(out, "... %zu more ... >", i - INNER);
		i = INNER;
	}
	putc('\n', out);
}

static int write_path(const struct paths *p, const struct path *path, FILE *out)
{
	size_t depth = call_tree_node(p->tree, path->node)->depth, count = 0;
	uint32_t *nodes = calloc(depth, sizeof(*nodes));
	char share[REPORT_PERCENT_SIZE];

	if (!nodes)
		return -ENOMEM;
	for (uint32_t at = path->node; at != CALL_TREE_ROOT && count < depth;
	     at = call_tree_node(p->tree, at)->parent)
		nodes[count++] = at;
	report_percent(share, path->weight, call_tree_total(p->tree));
	fprintf(out, "  %8s ", share); /* and a gap */
	write_frames(p, nodes, count, out);
	free(nodes);
	return 0;
}

/* The heaviest ones, a handful.  0 or -ENOMEM. */
static int write_paths(const struct call_tree *tree, FILE *out)
{
	struct paths p = {.tree = tree, .least = call_tree_total(tree) / LEAST + 1};
	int r = find_paths(&p);

	if (r || !p.count)
		return r;
	fputs("\n# Heaviest paths, each as far as it has a twentieth of all:\n#\n", out);
	for (size_t i = 0; i < p.count && !r; i++)
		r = write_path(&p, &p.heaviest[i], out);
	if (p.all > p.count)
		fprintf(out, "# Lighter ones that are left out: %zu\n", p.all - p.count);
	return r;
}

static int write_page(struct page *page)
{
	int r = 0;

	report_columns_init(&page->columns, &page->options);
	for (size_t i = 0; i < page->lines.count; i++)
		report_columns_measure(&page->columns, page->lines.lines[i]);
	write_header(page);
	for (size_t i = 0; !r && i < page->lines.count; i++)
		r = write_entry(page, page->lines.lines[i]);
	if (!r && page->options.first_screen)
		r = write_paths(page->report->tree, page->out);
	if (r < 0)
		return r;
	write_notes(page);
	return 0;
}

int report_write(const struct report *report, const struct report_options *options, FILE *out)
{
	struct page page = {.report = report, .options = *options, .out = out};
	int r;

	report_options_complete(&page.options);
	r = report_lines_init(report->tree, &page.options, &page.lines);
	if (!r)
		r = write_page(&page);
	report_lines_fini(&page.lines);
	return r;
}
