/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/preorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/call_tree.h"

#define NONE UINT32_MAX

/* Scratch: sibling lists in the order of names. */
struct sorter {
	const struct call_tree *tree;
	uint32_t *by_name; /* frames in order */
	uint32_t *first;   /* node: its first child */
	uint32_t *next;    /* node: its next sibling */
	uint32_t *users;   /* frame: its first node, then chained by @same */
	uint32_t *same;    /* node: the next node with the same frame */
	uint32_t *place;   /* node: where it was written */
};

static int compare_frames(const void *a, const void *b, void *ctx)
{
	const struct call_tree *tree = ctx;
	const struct call_frame *x = call_tree_frame(tree, *(const uint32_t *)a);
	const struct call_frame *y = call_tree_frame(tree, *(const uint32_t *)b);
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->dso, y->dso);
	if (!order)
		order = (int)x->kind - (int)y->kind;
	return order || !x->place || !y->place ? order : strcmp(x->place, y->place);
}

static uint32_t *numbers(size_t n)
{
	uint32_t *array = malloc((n + 1) * sizeof(*array));

	if (array)
		memset(array, 0xff, (n + 1) * sizeof(*array));
	return array;
}

static int sorter_init(struct sorter *s, const struct call_tree *tree)
{
	size_t n = call_tree_size(tree), frames = call_tree_frames(tree);

	*s = (struct sorter){
		.tree = tree,
		.by_name = numbers(frames),
		.users = numbers(frames),
		.first = numbers(n),
		.next = numbers(n),
		.same = numbers(n),
		.place = numbers(n),
	};
	if (!s->by_name || !s->users || !s->first || !s->next || !s->same || !s->place)
		return -ENOMEM;
	return 0;
}

static void sorter_fini(struct sorter *s)
{
	free(s->by_name);
	free(s->users);
	free(s->first);
	free(s->next);
	free(s->same);
	free(s->place);
}

/* Frames from last to first, each node to the front of its siblings. */
static void link_siblings(struct sorter *s)
{
	size_t frames = call_tree_frames(s->tree), n = call_tree_size(s->tree);

	for (uint32_t i = 0; i < frames; i++)
		s->by_name[i] = i;
	if (frames)
		qsort_r(s->by_name, frames, sizeof(*s->by_name), compare_frames, (void *)s->tree);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t frame = call_tree_node(s->tree, i)->frame;

		s->same[i] = s->users[frame];
		s->users[frame] = i;
	}
	for (size_t i = frames; i-- > 0;) {
		for (uint32_t at = s->users[s->by_name[i]]; at != NONE; at = s->same[at]) {
			uint32_t parent = call_tree_node(s->tree, at)->parent;

			s->next[at] = s->first[parent];
			s->first[parent] = at;
		}
	}
}

static void write_node(struct sorter *s, struct preorder *order, uint32_t at)
{
	const struct call_node *node = call_tree_node(s->tree, at);

	s->place[at] = order->n_nodes;
	order->nodes[order->n_nodes++] = (struct preorder_node){
		.self = node->self,
		.total = node->total,
		.parent = s->place[node->parent],
		.frame = node->frame,
		.depth = node->depth,
		.levels = node->levels,
	};
	if (node->depth > order->depth)
		order->depth = node->depth;
}

static void write_all(struct sorter *s, struct preorder *order)
{
	uint32_t at = CALL_TREE_ROOT;

	for (;;) {
		write_node(s, order, at);
		if (s->first[at] != NONE) {
			at = s->first[at];
			continue;
		}
		while (at != CALL_TREE_ROOT && s->next[at] == NONE) {
			order->nodes[s->place[at]].end = order->n_nodes;
			at = call_tree_node(s->tree, at)->parent;
		}
		order->nodes[s->place[at]].end = order->n_nodes;
		if (at == CALL_TREE_ROOT)
			return;
		at = s->next[at];
	}
}

int preorder_init(const struct call_tree *tree, struct preorder *ret)
{
	struct preorder order = {0};
	struct sorter s;
	int r = sorter_init(&s, tree);

	if (r < 0)
		goto out;
	order.nodes = malloc(call_tree_size(tree) * sizeof(*order.nodes));
	r = order.nodes ? 0 : -ENOMEM;
	if (r < 0)
		goto out;
	link_siblings(&s);
	write_all(&s, &order);
	*ret = order;
out:
	sorter_fini(&s);
	return r;
}

void preorder_fini(struct preorder *order)
{
	free(order->nodes);
	*order = (struct preorder){0};
}
