/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/call_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/name_pool.h"
#include "base/vector.h"

#define MEMOS 4096

struct call_tree {
	struct name_pool names;

	struct call_frame *frames;
	size_t n_frames, frames_capacity;
	struct hash_index frame_index; /* by name, dso, place and kind */
	uint32_t memos[MEMOS]; /* by the caller's pointers: frame + 1; checked, for they lie */

	struct call_node *nodes;
	size_t n_nodes, nodes_capacity;
	struct hash_index child_index; /* by parent and frame */

	/* nodes of the stack before, outermost first: the next one mostly begins alike */
	uint32_t *path;
	size_t path_length, path_capacity;
	uint64_t seed;
};

int call_tree_open(struct call_tree **ret)
{
	struct call_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	name_pool_init(&tree->names);
	tree->seed = hash_seed();
	if (vector_reserve(&tree->nodes, &tree->nodes_capacity, 1, sizeof(*tree->nodes)) < 0) {
		call_tree_close(tree);
		return -ENOMEM;
	}
	tree->nodes[tree->n_nodes++] = (struct call_node){0};
	*ret = tree;
	return 0;
}

void call_tree_close(struct call_tree *tree)
{
	if (!tree)
		return;
	name_pool_fini(&tree->names);
	hash_index_fini(&tree->frame_index);
	hash_index_fini(&tree->child_index);
	free(tree->frames);
	free(tree->nodes);
	free(tree->path);
	free(tree);
}

static struct call_frame named(const struct call_frame *frame)
{
	struct call_frame copy = *frame;

	if (!copy.name || !*copy.name)
		copy.name = "[unknown]";
	if (!copy.dso)
		copy.dso = "";
	return copy;
}

static int add_frame(struct call_tree *tree, const struct call_frame *frame, uint64_t hash,
		     uint32_t *ret)
{
	*ret = (uint32_t)tree->n_frames;
	return hash_index_push(&tree->frame_index, hash, tree->frames, tree->n_frames,
			       tree->frames_capacity, *frame);
}

/* Interned names are compared by their pointers. */
static bool is_frame(const struct call_frame *known, const struct call_frame *key)
{
	return known->name == key->name && known->dso == key->dso && known->place == key->place &&
	       known->kind == key->kind;
}

static int intern_names(struct call_tree *tree, const struct call_frame *frame,
			struct call_frame *ret)
{
	int r = name_pool_intern(&tree->names, frame->name, &ret->name);

	if (!r)
		r = name_pool_intern(&tree->names, frame->dso, &ret->dso);
	if (!r && frame->place)
		r = name_pool_intern(&tree->names, frame->place, &ret->place);
	return r;
}

static int find_frame(struct call_tree *tree, const struct call_frame *frame, uint32_t *ret)
{
	struct call_frame key = {.kind = frame->kind};
	uint64_t hash;
	size_t at = 0;
	int r = intern_names(tree, frame, &key);

	if (r < 0)
		return r;
	hash = hash_words((uintptr_t)key.name, (uintptr_t)key.dso + key.kind, tree->seed);
	if (key.place)
		hash = hash_words(hash, (uintptr_t)key.place, tree->seed);
	while (hash_index_next(&tree->frame_index, hash, &at, ret))
		if (is_frame(&tree->frames[*ret], &key))
			return 0;
	return add_frame(tree, &key, hash, ret);
}

static bool same_place(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const struct call_frame *a, const struct call_frame *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) && !strcmp(a->dso, b->dso) &&
	       same_place(a->place, b->place);
}

/* Callers mostly pass the same pointers for the same names. */
static int recall_frame(struct call_tree *tree, const struct call_frame *frame, uint32_t *ret)
{
	uint64_t hash = hash_words((uintptr_t)frame->name, (uintptr_t)frame->dso,
				   frame->kind + (uintptr_t)frame->place);
	uint32_t *memo = &tree->memos[hash % MEMOS];
	int r;

	if (*memo && same_frame(&tree->frames[*memo - 1], frame)) {
		*ret = *memo - 1;
		return 0;
	}
	r = find_frame(tree, frame, ret);
	if (!r)
		*memo = *ret + 1;
	return r;
}

static int add_child(struct call_tree *tree, uint32_t parent, uint32_t frame, uint64_t hash,
		     uint32_t *ret)
{
	const struct call_node child = {
		.parent = parent,
		.frame = frame,
		.depth = tree->nodes[parent].depth + 1,
		.levels = 1,
	};

	*ret = (uint32_t)tree->n_nodes;
	return hash_index_push(&tree->child_index, hash, tree->nodes, tree->n_nodes,
			       tree->nodes_capacity, child);
}

static bool is_child(const struct call_tree *tree, uint32_t at, uint32_t parent, uint32_t frame)
{
	return tree->nodes[at].parent == parent && tree->nodes[at].frame == frame;
}

static int find_child(struct call_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint32_t recent = tree->nodes[parent].recent;
	uint64_t hash;
	size_t at = 0;
	int r;

	if (recent && tree->nodes[recent].frame == frame) {
		*ret = recent;
		return 0;
	}
	hash = hash_words(parent, frame, tree->seed);
	while (hash_index_next(&tree->child_index, hash, &at, ret)) {
		if (is_child(tree, *ret, parent, frame)) {
			tree->nodes[parent].recent = *ret;
			return 0;
		}
	}
	r = add_child(tree, parent, frame, hash, ret);
	if (!r)
		tree->nodes[parent].recent = *ret;
	return r;
}

/* How many frames the stack shares with the one before. */
static size_t common_callers(const struct call_tree *tree, const struct call_frame *frames,
			     size_t n)
{
	size_t i;

	for (i = 0; i < n && i < tree->path_length; i++) {
		struct call_frame frame = named(&frames[i]);

		if (!same_frame(&tree->frames[tree->nodes[tree->path[i]].frame], &frame))
			break;
	}
	return i;
}

/* Makes @path the nodes of the stack. */
static int find_path(struct call_tree *tree, const struct call_frame *frames, size_t n)
{
	int r = vector_reserve(&tree->path, &tree->path_capacity, n, sizeof(*tree->path));

	if (r < 0)
		return r;
	tree->path_length = common_callers(tree, frames, n);
	while (tree->path_length < n) {
		struct call_frame frame = named(&frames[tree->path_length]);
		size_t at = tree->path_length;
		uint32_t id;

		r = recall_frame(tree, &frame, &id);
		if (r < 0)
			return r;
		r = find_child(tree, at ? tree->path[at - 1] : CALL_TREE_ROOT, id, &tree->path[at]);
		if (r < 0)
			return r;
		tree->path_length++;
	}
	return 0;
}

int call_tree_add(struct call_tree *tree, const struct call_frame *frames, size_t n,
		  uint64_t weight)
{
	int r;

	if (!weight)
		return 0;
	if (weight > UINT64_MAX - tree->nodes[CALL_TREE_ROOT].total)
		return -EOVERFLOW;
	r = find_path(tree, frames, n);
	if (r < 0)
		return r;

	tree->nodes[n ? tree->path[n - 1] : CALL_TREE_ROOT].self += weight;
	tree->nodes[CALL_TREE_ROOT].total += weight;
	for (size_t i = 0; i < n; i++) {
		struct call_node *node = &tree->nodes[tree->path[i]];

		node->total += weight;
		if (frames[i].levels > node->levels)
			node->levels = frames[i].levels;
	}
	return 0;
}

uint64_t call_tree_total(const struct call_tree *tree)
{
	return tree->nodes[CALL_TREE_ROOT].total;
}

size_t call_tree_size(const struct call_tree *tree)
{
	return tree->n_nodes;
}

const struct call_node *call_tree_node(const struct call_tree *tree, uint32_t node)
{
	return &tree->nodes[node];
}

size_t call_tree_frames(const struct call_tree *tree)
{
	return tree->n_frames;
}

const struct call_frame *call_tree_frame(const struct call_tree *tree, uint32_t frame)
{
	return &tree->frames[frame];
}
