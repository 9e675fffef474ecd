/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_tree.h - many stacks, one tree.
 *
 *	main;parse;lex 3		all 10
 *	main;parse     2    ──add──►	└─ main 10
 *	main;emit      5		   ├─ parse 5 (2 of its own)
 *					   │  └─ lex 3
 *					   └─ emit 5
 *
 * Every output of a profile is a drawing of this tree.  A node is a frame below
 * a certain chain of callers; @self is the weight of the stacks that end there,
 * @total adds those that go on.  Stacks are given outermost frame first.
 *
 * Memory is proportional to the distinct nodes and names, not to the stacks.
 * Adding a frame costs a comparison or two if the stack before had it in the
 * same place, or if its caller called it last, else a few hash look-ups.
 * Nothing recurses: depth is limited by memory only.  One thread at a time.
 */
#ifndef BOBBIN_EXPORT_CALL_TREE_H
#define BOBBIN_EXPORT_CALL_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/frame_kind.h"

/**
 * struct call_frame - what a frame is called
 * @name: of the function; NULL or "" stands for "[unknown]"
 * @dso: path or name of the file that holds it; NULL stands for ""
 * @place: where it is in its source, as "file:line"; or NULL
 * @kind: frames that differ in any of the four are different frames
 * @levels: of a recursion for which this frame stands, alone or with its neighbours; 0 and
 *	1: one
 *
 * Names may hold any bytes but NUL; the writers make them harmless.
 */
struct call_frame {
	const char *name;
	const char *dso;
	enum frame_kind kind;
	uint32_t levels;
	const char *place;
};

#define CALL_TREE_ROOT 0

/**
 * struct call_node - a node of the tree
 * @self: weight of the stacks that end here
 * @total: weight of the stacks that end here or further in
 * @parent: number of the caller's node, less than the node's own
 * @frame: for call_tree_frame(); meaningless in the root
 * @depth: 0 for the root
 * @levels: the most that a stack had here, see struct call_frame; 1 where there was no more
 * @recent: the child that was found last, 0 before; call_tree_add() tries it first
 */
struct call_node {
	uint64_t self, total;
	uint32_t parent, frame, depth, recent, levels;
};

struct call_tree;

/* An empty tree.  0 or -ENOMEM. */
int call_tree_open(struct call_tree **ret);
void call_tree_close(struct call_tree *tree); /* or NULL */

/*
 * Add a stack, which is copied, outermost frame first (main before what it calls).  No frames
 * count at the root; @weight, of samples, nanoseconds ..., may be 0, which adds nothing.  0;
 * -ENOMEM; -E2BIG: 2^32 nodes or more; -EOVERFLOW: the sum of weights would exceed 64 bits.  A
 * refused stack changes no weight.
 */
int call_tree_add(struct call_tree *tree, const struct call_frame *frames, size_t n,
		  uint64_t weight);

/* The sum of all weights. */
uint64_t call_tree_total(const struct call_tree *tree);

/* The number of nodes, root included: 1 for an empty tree; of distinct frames. */
size_t call_tree_size(const struct call_tree *tree);
size_t call_tree_frames(const struct call_tree *tree);

/* A node, and what one is called; valid until the next call_tree_add(). */
const struct call_node *call_tree_node(const struct call_tree *tree, uint32_t node);

/*
 * @levels means nothing here.  Name and file are not NULL.  All are interned, so equal strings have
 * equal pointers, and valid until call_tree_close().
 */
const struct call_frame *call_tree_frame(const struct call_tree *tree, uint32_t frame);

#endif
