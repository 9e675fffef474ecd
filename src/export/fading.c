/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/fading.h"

#include <errno.h>
#include <stdlib.h>

#include "export/preorder.h"

/* One copy. */
struct copy {
	const struct call_tree *from;
	const struct fading *fading;
	struct call_tree *to;
	struct call_frame *path; /* the stack down to the node, outermost frame first */
};

static uint64_t remains(const struct fading *fading, uint64_t weight)
{
	return (uint64_t)((unsigned __int128)weight * fading->keep / fading->of);
}

static struct call_frame frame_of(const struct copy *copy, const struct preorder_node *node)
{
	struct call_frame frame = *call_tree_frame(copy->from, node->frame);

	frame.levels = node->levels;
	if (frame.kind == FRAME_COMMAND &&
	    remains(copy->fading, node->total) < copy->fading->least_process)
		frame.dso = "";
	return frame;
}

static int add_rest(struct copy *copy, uint64_t weight)
{
	const struct call_frame frames[] = {
		{.name = copy->fading->rest, .kind = FRAME_COMMAND},
		{.name = copy->fading->rest, .kind = FRAME_UNKNOWN},
	};

	return copy->fading->rest ? call_tree_add(copy->to, frames, 2, weight) : 0;
}

static int copy_node(struct copy *copy, const struct preorder_node *node)
{
	uint64_t weight = remains(copy->fading, node->self);

	if (node->depth)
		copy->path[node->depth - 1] = frame_of(copy, node);
	if (!weight)
		return 0;
	if (weight < copy->fading->least)
		return add_rest(copy, weight);
	return call_tree_add(copy->to, copy->path, node->depth, weight);
}

static int copy_nodes(struct copy *copy)
{
	struct preorder order;
	int r = preorder_init(copy->from, &order);

	if (r)
		return r;
	copy->path = calloc((size_t)order.depth + 1, sizeof(*copy->path));
	r = copy->path ? call_tree_open(&copy->to) : -ENOMEM;
	for (uint32_t i = 0; !r && i < order.n_nodes; i++)
		r = copy_node(copy, &order.nodes[i]);
	free(copy->path);
	preorder_fini(&order);
	return r;
}

int call_tree_faded(const struct call_tree *from, const struct fading *fading,
		    struct call_tree **ret)
{
	struct copy copy = {.from = from, .fading = fading};
	int r = copy_nodes(&copy);

	if (r)
		call_tree_close(copy.to);
	else
		*ret = copy.to;
	return r;
}
