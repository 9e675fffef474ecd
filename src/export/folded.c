/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export/call_tree.h"
#include "export/preorder.h"
#include "export/safe_text.h"

/* Outermost first.  @path has room for the deepest node. */
static size_t path_of(const struct call_tree *tree, const struct preorder *order, uint32_t at,
		      struct call_frame *path)
{
	size_t n = order->nodes[at].depth;

	for (size_t i = n; i-- > 0; at = order->nodes[at].parent)
		path[i] = (struct call_frame){
			.name = call_tree_frame(tree, order->nodes[at].frame)->name};
	return n;
}

/* The same stacks, all frames of the same kind and file. */
static int add_names(const struct call_tree *tree, const struct preorder *order,
		     struct call_tree *names)
{
	struct call_frame *path = calloc((size_t)order->depth + 1, sizeof(*path));
	int r = path ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < order->n_nodes; i++) {
		if (!order->nodes[i].self)
			continue;
		size_t n = path_of(tree, order, i, path);

		r = call_tree_add(names, path, n ? n : 1, order->nodes[i].self);
	}
	free(path);
	return r;
}

static void write_name(FILE *out, const char *name)
{
	while (*name) {
		const char *start = name;
		int32_t c = safe_text_decode(&name);

		if (c < 0 || c == ';' || safe_text_is_control(c) || (c == '\\' && *name == 'x'))
			for (; start < name; start++)
				fprintf(out, "\\x%02x", (unsigned char)*start);
		else
			fwrite(start, 1, (size_t)(name - start), out);
	}
}

static void write_stack(const struct call_tree *tree, const struct preorder *order, uint32_t at,
			struct call_frame *path, FILE *out)
{
	size_t n = path_of(tree, order, at, path);

	for (size_t i = 0; i < n; i++) {
		if (i)
			putc(';', out);
		write_name(out, path[i].name);
	}
	fprintf(out, " %" PRIu64 "\n", order->nodes[at].self);
}

static int write_stacks(const struct call_tree *tree, FILE *out)
{
	struct preorder order = {0};
	struct call_frame *path;
	int r = preorder_init(tree, &order);

	if (r < 0)
		return r;
	path = calloc((size_t)order.depth + 1, sizeof(*path));
	r = path ? 0 : -ENOMEM;
	for (uint32_t i = 1; !r && i < order.n_nodes; i++)
		if (order.nodes[i].self)
			write_stack(tree, &order, i, path, out);
	free(path);
	preorder_fini(&order);
	return r;
}

int folded_write(const struct call_tree *tree, FILE *out)
{
	struct call_tree *names = NULL;
	struct preorder order = {0};
	int r = call_tree_open(&names);

	if (r < 0)
		return r;
	r = preorder_init(tree, &order);
	if (!r)
		r = add_names(tree, &order, names);
	preorder_fini(&order);
	if (!r)
		r = write_stacks(names, out);
	call_tree_close(names);
	return r;
}
