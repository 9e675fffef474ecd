/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * preorder.h - a call tree written down callers first.
 *
 *	place   0    1     2      3    4
 *	node   all  main  emit  parse  lex	siblings in order of name, dso, kind
 *	end     5    5     3      5     5	the first place that is not below it
 *
 * A subtree is a range of places, so the writers need loops only:
 *
 *	for (uint32_t child = at + 1; child < nodes[at].end; child = nodes[child].end)
 */
#ifndef BOBBIN_EXPORT_PREORDER_H
#define BOBBIN_EXPORT_PREORDER_H

#include <stddef.h>
#include <stdint.h>

struct call_tree;

/**
 * struct preorder_node - a node and its place
 * @self: @total: @frame: @depth: @levels: as in struct call_node
 * @parent: place of the caller; 0 for the root itself
 * @end: place after the last node below this one
 */
struct preorder_node {
	uint64_t self, total;
	uint32_t parent, end, frame, depth, levels;
};

struct preorder {
	struct preorder_node *nodes; /* the root comes first */
	uint32_t n_nodes;
	uint32_t depth; /* greatest of all nodes */
};

/*
 * Write a tree down as it is now.  Takes time proportional to the nodes, plus a sort of the
 * distinct frames.  0 or -ENOMEM.
 */
int preorder_init(const struct call_tree *tree, struct preorder *ret);
void preorder_fini(struct preorder *order);

#endif
