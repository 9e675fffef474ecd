/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "export/report_line.h"
#include "export/safe_text.h"

#define PATHS 8
/* A path has this part of all weight at least. */
#define LEAST 20
/* Frames of a long one that are shown, at both ends. */
#define OUTER 3
#define INNER 7
#define INDENT 12
#define WIDTH 100
#define WIDEST_NAME 60

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

int report_paths_write(const struct call_tree *tree, FILE *out)
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
