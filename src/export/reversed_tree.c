/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/reversed_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "export/call_tree.h"

struct reversal {
	const struct call_tree *from;
	struct call_tree *to;
	struct call_frame *path; /* scratch: a stack, leaf first */
	size_t room;
};

static int add_stack(struct reversal *r, uint32_t leaf, const struct call_node *node)
{
	size_t n = 0;
	int error = vector_reserve(&r->path, &r->room, node->depth, sizeof(*r->path));

	if (error)
		return error;
	for (uint32_t at = leaf; at != CALL_TREE_ROOT; at = call_tree_node(r->from, at)->parent) {
		const struct call_node *step = call_tree_node(r->from, at);

		r->path[n] = *call_tree_frame(r->from, step->frame);
		r->path[n++].levels = step->levels;
	}
	return call_tree_add(r->to, r->path, n, node->self);
}

int reversed_tree_open(const struct call_tree *tree, struct call_tree **ret)
{
	struct reversal reversal = {.from = tree};
	size_t nodes = call_tree_size(tree);
	int r = call_tree_open(&reversal.to);

	for (size_t i = 0; i < nodes && !r; i++) {
		const struct call_node *node = call_tree_node(tree, (uint32_t)i);

		if (node->self)
			r = add_stack(&reversal, (uint32_t)i, node);
	}
	free(reversal.path);
	if (r)
		call_tree_close(reversal.to);
	else
		*ret = reversal.to;
	return r;
}
