/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/flamegraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "export/call_tree.h"
#include "export/palette.h"
#include "export/preorder.h"
#include "export/report_line.h"
#include "export/safe_text.h"
#include "export/tree_changes.h"

/* Pixels. */
#define ROW 18
#define HEAD 84
#define EDGE 10
#define WIDTH 1200    /* where no script runs, which makes it that of the window */
#define CHARACTER 7.3 /* of the 12 px fixed-width font; the script measures it */

#define LEGEND_SHADE 3
#define NAME_COLUMNS 512
#define TITLE_COLUMNS 256
/* The height of a usual one, in pixels, without what a browser takes for itself. */
#define SCREEN 900

/* Points, in hundredths, from which on all changes look alike. */
#define MOST_CHANGE 500

#define NONE UINT32_MAX

static const char style[] =
#include "export/flamegraph.css.inc"
	;
static const char script[] =
#include "export/flamegraph.js.inc"
	;

/* Which frames are shown, and where: positions are weights, which the script scales. */

/**
 * struct flame - a frame of the picture
 * @start: weight to the left of it
 * @total: weight of its width
 * @symbol: number of its name in the layout
 * @depth: 0 for the frame of all stacks
 * @colour: of the palette
 * @levels: of a recursion for which it stands; 1: none
 * @change: since the baseline, in hundredths of a percentage point
 */
struct flame {
	uint64_t start, total;
	int64_t change;
	uint32_t symbol, depth, colour, levels;
};

/**
 * struct flame_symbol - a name of the picture
 * @frame: strings borrowed from the tree
 * @file: number of @frame.dso in the layout
 */
struct flame_symbol {
	struct call_frame frame;
	uint32_t file;
};

struct layout {
	struct flame *flames;         /* callers first; the first one is all stacks */
	struct flame_symbol *symbols; /* the first one is "all" */
	const char **files;           /* the first one is "" */
	uint32_t n_flames, n_symbols, n_files;
	uint32_t left_out;                 /* frames that are too narrow */
	uint32_t depth;                    /* greatest of all flames */
	bool shows_colour[PALETTE_SIZE];   /* of flames */
	bool shows_kind[PALETTE_FAMILIES]; /* of flames but the first; of changes, all */
	bool changes;                      /* it shows them */
	uint64_t missing, all;             /* of the baseline, see struct tree_changes */
};

struct builder {
	const struct call_tree *tree;
	struct preorder order;
	uint64_t *free_from;          /* place: where its next child starts */
	uint32_t *symbol_of;          /* frame: its symbol or NONE */
	struct hash_index file_index; /* by the pointer: names are interned */
	struct tree_changes changes;  /* of a picture that shows them */
	struct layout layout;
};

static int find_changes(struct builder *b, const struct call_tree *baseline)
{
	int r = tree_changes_init(b->tree, &b->order, baseline, &b->changes);

	b->layout.changes = true;
	b->layout.missing = b->changes.missing;
	b->layout.all = b->changes.all;
	return r;
}

static int builder_init(struct builder *b, const struct call_tree *tree,
			const struct call_tree *baseline)
{
	size_t frames = call_tree_frames(tree) + 1;
	int r;

	*b = (struct builder){.tree = tree};
	r = preorder_init(tree, &b->order);
	if (r < 0)
		return r;
	b->free_from = calloc(b->order.n_nodes, sizeof(*b->free_from));
	b->symbol_of = malloc(frames * sizeof(*b->symbol_of));
	b->layout.symbols = malloc(frames * sizeof(*b->layout.symbols));
	b->layout.files = malloc(frames * sizeof(*b->layout.files));
	b->layout.flames = malloc(b->order.n_nodes * sizeof(*b->layout.flames));
	if (!b->free_from || !b->symbol_of || !b->layout.symbols || !b->layout.files ||
	    !b->layout.flames)
		return -ENOMEM;
	memset(b->symbol_of, 0xff, frames * sizeof(*b->symbol_of));
	b->layout.files[b->layout.n_files++] = "";
	b->layout.symbols[b->layout.n_symbols++] =
		(struct flame_symbol){.frame = {.name = "all", .dso = "", .kind = FRAME_COMMAND}};
	return baseline ? find_changes(b, baseline) : 0;
}

static void builder_fini(struct builder *b)
{
	preorder_fini(&b->order);
	free(b->free_from);
	free(b->symbol_of);
	hash_index_fini(&b->file_index);
	tree_changes_fini(&b->changes);
}

static int find_file(struct builder *b, const char *dso, uint32_t *ret)
{
	uint64_t hash = hash_words((uintptr_t)dso, 0, 0);
	size_t at = 0;
	int r;

	if (!*dso) {
		*ret = 0;
		return 0;
	}
	while (hash_index_next(&b->file_index, hash, &at, ret))
		if (b->layout.files[*ret] == dso)
			return 0;
	r = hash_index_add(&b->file_index, hash, b->layout.n_files);
	if (r < 0)
		return r;
	*ret = b->layout.n_files;
	b->layout.files[b->layout.n_files++] = dso;
	return 0;
}

static int find_symbol(struct builder *b, uint32_t at, uint32_t *ret)
{
	uint32_t frame = b->order.nodes[at].frame;
	struct flame_symbol symbol;
	int r;

	*ret = at == CALL_TREE_ROOT ? 0 : b->symbol_of[frame];
	if (*ret != NONE)
		return 0;
	symbol.frame = *call_tree_frame(b->tree, frame);
	r = find_file(b, symbol.frame.dso, &symbol.file);
	if (r < 0)
		return r;
	b->layout.shows_kind[symbol.frame.kind] |= !b->layout.changes;
	b->symbol_of[frame] = *ret = b->layout.n_symbols;
	b->layout.symbols[b->layout.n_symbols++] = symbol;
	return 0;
}

static void set_change(struct builder *b, uint32_t at, struct flame *flame)
{
	flame->change = tree_changes_points(&b->changes, at, flame->total, b->order.nodes[0].total);
	flame->colour = palette_change(flame->change, MOST_CHANGE);
	if (flame->change)
		b->layout.shows_kind[flame->colour / PALETTE_SHADES] = true;
}

static int add_flame(struct builder *b, uint32_t at, uint64_t start)
{
	const struct preorder_node *node = &b->order.nodes[at];
	struct layout *layout = &b->layout;
	struct flame flame = {
		.start = start,
		.total = node->total,
		.depth = node->depth,
		.levels = node->levels,
	};
	int r = find_symbol(b, at, &flame.symbol);

	if (r < 0)
		return r;
	if (layout->changes)
		set_change(b, at, &flame);
	else
		flame.colour = palette_colour(&layout->symbols[flame.symbol].frame);
	layout->flames[layout->n_flames++] = flame;
	layout->shows_colour[flame.colour] = true;
	if (flame.depth > layout->depth)
		layout->depth = flame.depth;
	return 0;
}

static int add_flames(struct builder *b, double least)
{
	const struct preorder_node *nodes = b->order.nodes;
	uint32_t at = CALL_TREE_ROOT;
	int r = 0;

	while (!r && at < b->order.n_nodes) {
		uint64_t start = b->free_from[nodes[at].parent];

		b->free_from[nodes[at].parent] += at ? nodes[at].total : 0;
		if (at && (double)nodes[at].total < least) {
			b->layout.left_out += nodes[at].end - at;
			at = nodes[at].end;
			continue;
		}
		b->free_from[at] = start;
		r = add_flame(b, at++, start);
	}
	return r;
}

static void layout_fini(struct layout *layout)
{
	free(layout->flames);
	free(layout->symbols);
	free(layout->files);
	*layout = (struct layout){0};
}

/*
 * Choose the frames of a tree; those of less weight than @least are left out.  @baseline may be
 * NULL.  0 or -ENOMEM.
 */
static int layout_init(const struct call_tree *tree, const struct call_tree *baseline, double least,
		       struct layout *ret)
{
	struct builder b;
	int r = builder_init(&b, tree, baseline);

	if (!r)
		r = add_flames(&b, least);
	if (r < 0)
		layout_fini(&b.layout);
	else
		*ret = b.layout;
	builder_fini(&b);
	return r;
}

/* The picture. */

struct picture {
	const struct flamegraph_options *options;
	bool inverted;
	struct layout layout;
	FILE *out;
};

static const char *title_of(const struct picture *p)
{
	return p->options->title ? p->options->title : "Flame graph";
}

static unsigned int height(const struct picture *p)
{
	return HEAD + (p->layout.depth + 1) * ROW + (p->layout.left_out ? 3 : 1) * EDGE;
}

static void write_theme(const struct picture *p, bool dark)
{
	for (unsigned int i = 0; i < PALETTE_SIZE; i++)
		if (p->layout.shows_colour[i] || i % PALETTE_SHADES == LEGEND_SHADE)
			fprintf(p->out, ".%c%u{fill:%s}", palette_class(i / PALETTE_SHADES),
				i % PALETTE_SHADES, palette_fill(i, dark));
}

static void write_style(const struct picture *p)
{
	fprintf(p->out, "<style>%s", style);
	write_theme(p, false);
	fputs("\n@media (prefers-color-scheme: dark) {", p->out);
	write_theme(p, true);
	fputs("}\n</style>\n", p->out);
}

static void write_open(const struct picture *p)
{
	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\""
		" font-family=\"sans-serif\">\n<title>",
		WIDTH, height(p));
	safe_text_xml(p->out, title_of(p), TITLE_COLUMNS);
	fputs("</title>\n", p->out);
	write_style(p);
	fputs("<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", p->out);
}

/* Tenths of a pixel. */
static unsigned int position(const struct picture *p, uint64_t weight)
{
	uint64_t inner = (WIDTH - 2 * EDGE) * 10;

	return EDGE * 10 +
	       (unsigned int)((unsigned __int128)weight * inner / p->layout.flames[0].total);
}

static unsigned int top(const struct picture *p, const struct flame *flame)
{
	uint32_t row = p->inverted ? flame->depth : p->layout.depth - flame->depth;

	return HEAD + row * ROW;
}

static void write_tenths(FILE *out, unsigned int tenths)
{
	if (tenths % 10)
		fprintf(out, "%u.%u", tenths / 10, tenths % 10);
	else
		fprintf(out, "%u", tenths / 10);
}

static void write_box(const struct picture *p, const struct flame *flame)
{
	unsigned int left = position(p, flame->start);
	unsigned int length = position(p, flame->start + flame->total) - left;

	if (length > 30)
		length -= 7; /* a gap between siblings */
	else if (!length)
		length = 1;
	fputc('M', p->out);
	write_tenths(p->out, left);
	fprintf(p->out, ",%uh", top(p, flame));
	write_tenths(p->out, length);
	fprintf(p->out, "v%uh-", ROW - 1);
	write_tenths(p->out, length);
	fputc('z', p->out);
}

/* All boxes of one colour are one path: 25 bytes a box. */
static void write_boxes(const struct picture *p)
{
	const struct layout *layout = &p->layout;

	for (unsigned int i = 0; i < PALETTE_SIZE; i++) {
		if (!layout->shows_colour[i])
			continue;
		fprintf(p->out, "<path class=\"%c%u\" fill=\"%s\" d=\"",
			palette_class(i / PALETTE_SHADES), i % PALETTE_SHADES,
			palette_fill(i, false));
		for (uint32_t at = 0; at < layout->n_flames; at++)
			if (layout->flames[at].colour == i)
				write_box(p, &layout->flames[at]);
		fputs("\"/>\n", p->out);
	}
}

/* The name, and how many levels of it there were, if both find room. */
static void write_label(const struct picture *p, const struct flame *flame, size_t columns)
{
	char levels[16] = "";
	size_t used = 0;

	if (flame->levels > 1)
		used = (size_t)snprintf(levels, sizeof(levels), " x%" PRIu32, flame->levels);
	if (used + 3 > columns) {
		*levels = '\0';
		used = 0;
	}
	safe_text_xml(p->out, p->layout.symbols[flame->symbol].frame.name, columns - used);
	fputs(levels, p->out);
}

static void write_labels(const struct picture *p)
{
	for (uint32_t i = 0; i < p->layout.n_flames; i++) {
		const struct flame *flame = &p->layout.flames[i];
		unsigned int left = position(p, flame->start);
		unsigned int right = position(p, flame->start + flame->total);

		if (right - left < 60 + 3 * CHARACTER * 10)
			continue;
		fputs("<text x=\"", p->out);
		write_tenths(p->out, left + 30);
		fprintf(p->out, "\" y=\"%u\">", top(p, flame) + 13);
		write_label(p, flame, (size_t)((right - left - 60) / (CHARACTER * 10)));
		fputs("</text>\n", p->out);
	}
}

static void write_still(const struct picture *p)
{
	fputs("<g class=\"picture\" font-family=\"monospace\" font-size=\"12\">\n", p->out);
	if (p->layout.flames[0].total) {
		write_boxes(p);
		write_labels(p);
	}
	fputs("</g>\n", p->out);
	if (p->layout.left_out)
		fprintf(p->out,
			"<text class=\"note\" x=\"%u\" y=\"%u\" font-size=\"12\" fill=\"#5f5a54\">"
			"Frames left out as too narrow to see: %" PRIu32 "</text>\n",
			EDGE, height(p) - EDGE, p->layout.left_out);
}

static unsigned int legend_width(unsigned int kind)
{
	return 32 + 8 * (unsigned int)safe_text_columns(palette_label(kind));
}

static void write_legend_entry(const struct picture *p, unsigned int kind, unsigned int x)
{
	fprintf(p->out,
		"<rect class=\"%c%u\" x=\"%u\" y=\"44\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\"/>"
		"<text x=\"%u\" y=\"54\">%s</text>",
		palette_class(kind), LEGEND_SHADE, x,
		palette_fill(kind * PALETTE_SHADES + LEGEND_SHADE, false), x + 16,
		palette_label(kind));
}

/* To the right edge, which the script does better: it measures the words. */
static void write_legend(const struct picture *p)
{
	unsigned int x = WIDTH;

	for (unsigned int kind = 0; kind < PALETTE_FAMILIES; kind++)
		x -= p->layout.shows_kind[kind] ? legend_width(kind) : 0;
	fputs("<g class=\"legend\" font-size=\"12\" fill=\"#5f5a54\">", p->out);
	for (unsigned int kind = 0; kind < PALETTE_FAMILIES; kind++) {
		if (!p->layout.shows_kind[kind])
			continue;
		write_legend_entry(p, kind, x);
		x += legend_width(kind);
	}
	fputs("</g>\n", p->out);
}

/* What no frame of the picture can show. */
static void write_missing(const struct picture *p)
{
	char share[REPORT_PERCENT_SIZE];

	report_percent(share, p->layout.missing, p->layout.all);
	fprintf(p->out,
		"<text class=\"note\" x=\"%u\" y=\"54\" font-size=\"12\" fill=\"#5f5a54\">"
		"%s of the baseline is in stacks that are not here</text>",
		EDGE, share);
}

static void write_weight(const struct picture *p, uint64_t weight)
{
	const uint64_t ms = weight / 1000000;

	if (p->options->is_time)
		fprintf(p->out, "%" PRIu64 ".%03u s", ms / 1000, (unsigned int)(ms % 1000));
	else
		fprintf(p->out, "%" PRIu64 " samples", weight);
}

static void write_head(const struct picture *p)
{
	fprintf(p->out,
		"<g class=\"head\"><rect class=\"ground\" width=\"100%%\" height=\"%u\""
		" fill=\"#fff\"/><path class=\"rule\" d=\"M0,%u.5h32767\" stroke=\"#d9d5cf\"/>\n"
		"<text class=\"title\" x=\"%u\" y=\"28\" font-size=\"17\">",
		HEAD - 5, HEAD - 6, EDGE);
	safe_text_xml(p->out, title_of(p), TITLE_COLUMNS);
	fputs("</text>\n", p->out);
	write_legend(p);
	fprintf(p->out, "<text class=\"details\" x=\"%u\" y=\"69\" font-size=\"12\">", EDGE);
	write_weight(p, p->layout.flames[0].total);
	fputs("</text>", p->out);
	if (p->layout.missing)
		write_missing(p);
	fputs("</g>\n", p->out);
}

static void write_symbols(const struct picture *p)
{
	for (uint32_t i = 0; i < p->layout.n_symbols; i++) {
		const struct flame_symbol *symbol = &p->layout.symbols[i];

		safe_text_script(p->out, symbol->frame.name, NAME_COLUMNS);
		fprintf(p->out, ",%" PRIu32 ",%u,\n", symbol->file, palette_colour(&symbol->frame));
	}
}

static void write_files(const struct picture *p)
{
	for (uint32_t i = 0; i < p->layout.n_files; i++) {
		safe_text_script(p->out, p->layout.files[i], NAME_COLUMNS);
		fputs(",\n", p->out);
	}
}

/* Symbol, levels to climb, weight skipped since the last sibling, weight. */
static int write_nodes(const struct picture *p)
{
	const struct flame *flames = p->layout.flames;
	uint64_t *ends = calloc((size_t)p->layout.depth + 2, sizeof(*ends)); /* by depth */
	uint32_t last = UINT32_MAX; /* above the root: nothing to climb */

	if (!ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->layout.n_flames; i++) {
		const struct flame *flame = &flames[i];

		fprintf(p->out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%s", flame->symbol,
			last - flame->depth + 1, flame->start - ends[flame->depth], flame->total,
			i % 16 == 15 ? "\n" : "");
		ends[flame->depth] = flame->start + flame->total;
		ends[flame->depth + 1] = flame->start;
		last = flame->depth;
	}
	free(ends);
	return 0;
}

static void write_levels(const struct picture *p)
{
	for (uint32_t i = 0; i < p->layout.n_flames; i++)
		if (p->layout.flames[i].levels > 1)
			fprintf(p->out, "%" PRIu32 ":%" PRIu32 ",", i, p->layout.flames[i].levels);
}

/* Of each frame: colour, change in hundredths of a point. */
static void write_changes(const struct picture *p)
{
	for (uint32_t i = 0; i < p->layout.n_flames; i++)
		fprintf(p->out, "%" PRIu32 ",%" PRId64 ",%s", p->layout.flames[i].colour,
			p->layout.flames[i].change, i % 16 == 15 ? "\n" : "");
}

static void write_kinds(const struct picture *p)
{
	fputs(",labels:[", p->out);
	for (unsigned int kind = 0; kind < PALETTE_FAMILIES; kind++)
		fprintf(p->out, "\"%s\",", palette_label(kind));
	fputs("],classes:\"", p->out);
	for (unsigned int kind = 0; kind < PALETTE_FAMILIES; kind++)
		putc(palette_class(kind), p->out);
	fputs("\"", p->out);
}

static int write_script(const struct picture *p)
{
	int r;

	fputs("<script><![CDATA[(() => {\"use strict\";\nconst profile = {", p->out);
	fprintf(p->out, "row:%u,head:%u,edge:%u,shades:%u,", ROW, HEAD, EDGE, PALETTE_SHADES);
	fprintf(p->out, "inverted:%d,time:%d,min:%u.%03u", p->inverted, p->options->is_time,
		(unsigned int)p->options->min_width,
		(unsigned int)(p->options->min_width * 1000) % 1000);
	write_kinds(p);
	fputs(",\nfiles:[", p->out);
	write_files(p);
	fputs("],\nsymbols:[", p->out);
	write_symbols(p);
	fputs("],\nnodes:[", p->out);
	r = write_nodes(p);
	fputs("],\nlevels:{", p->out);
	write_levels(p);
	fputs("}", p->out);
	if (p->layout.changes) {
		fputs(",\nchanges:[", p->out);
		write_changes(p);
		fputs("]", p->out);
	}
	fprintf(p->out, "};\n%s})();]]></script>\n", script);
	return r;
}

static int write_picture(const struct picture *p)
{
	int r = 0;

	write_open(p);
	write_still(p);
	write_head(p);
	if (p->layout.flames[0].total)
		r = write_script(p);
	fputs("</svg>\n", p->out);
	return r;
}

int flamegraph_write(const struct call_tree *tree, const struct flamegraph_options *options,
		     FILE *out)
{
	struct picture p = {.options = options, .out = out};
	double least = options->min_width * (double)call_tree_total(tree) / (WIDTH - 2 * EDGE);
	int r;

	if (options->min_width > INT16_MAX)
		return -EINVAL;
	r = layout_init(tree, options->baseline, least, &p.layout);
	if (r < 0)
		return r;
	p.inverted = options->inverted || (!options->upright && height(&p) > SCREEN);
	r = write_picture(&p);
	layout_fini(&p.layout);
	return r;
}
