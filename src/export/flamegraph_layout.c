/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/flamegraph_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "export/preorder.h"

#define NONE UINT32_MAX

struct builder {
	const struct call_tree *tree;
	struct preorder order;
	uint64_t *free_from;          /* place: where its next child starts */
	uint32_t *symbol_of;          /* frame: its symbol or NONE */
	struct hash_index file_index; /* by the pointer: names are interned */
	struct flamegraph_layout layout;
};

static int builder_init(struct builder *b, const struct call_tree *tree)
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
	return 0;
}

static void builder_fini(struct builder *b)
{
	preorder_fini(&b->order);
	free(b->free_from);
	free(b->symbol_of);
	hash_index_fini(&b->file_index);
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
	b->layout.shows_kind[symbol.frame.kind] = true;
	b->symbol_of[frame] = *ret = b->layout.n_symbols;
	b->layout.symbols[b->layout.n_symbols++] = symbol;
	return 0;
}

static int add_flame(struct builder *b, uint32_t at, uint64_t start)
{
	const struct preorder_node *node = &b->order.nodes[at];
	struct flamegraph_layout *layout = &b->layout;
	struct flame flame = {
		.start = start,
		.total = node->total,
		.depth = node->depth,
		.levels = node->levels,
	};
	int r = find_symbol(b, at, &flame.symbol);

	if (r < 0)
		return r;
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

int flamegraph_layout_init(const struct call_tree *tree, double least,
			   struct flamegraph_layout *ret)
{
	struct builder b;
	int r = builder_init(&b, tree);

	if (!r)
		r = add_flames(&b, least);
	if (r < 0)
		flamegraph_layout_fini(&b.layout);
	else
		*ret = b.layout;
	builder_fini(&b);
	return r;
}

void flamegraph_layout_fini(struct flamegraph_layout *layout)
{
	free(layout->flames);
	free(layout->symbols);
	free(layout->files);
	*layout = (struct flamegraph_layout){0};
}
