/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/tree_changes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "export/report_line.h"

#define NONE UINT32_MAX

/* Places by their caller's place and their names. */
struct place_index {
	const struct call_tree *tree;
	const struct preorder *order;
	struct hash_index index;
	uint64_t seed;
};

static uint64_t hash_place(const struct place_index *p, uint32_t parent,
			   const struct call_frame *frame)
{
	const char *file = report_file_name(frame->dso);
	const uint64_t hash = hash_bytes(frame->name, strlen(frame->name), p->seed + parent);

	return hash_bytes(file, strlen(file), hash + frame->kind);
}

static bool is_same(const struct call_frame *a, const struct call_frame *b)
{
	return a->kind == b->kind && !strcmp(a->name, b->name) &&
	       !strcmp(report_file_name(a->dso), report_file_name(b->dso));
}

static int index_places(struct place_index *p)
{
	int r = 0;

	for (uint32_t at = 1; at < p->order->n_nodes && !r; at++) {
		const struct preorder_node *node = &p->order->nodes[at];
		const struct call_frame *frame = call_tree_frame(p->tree, node->frame);

		r = hash_index_add(&p->index, hash_place(p, node->parent, frame), at);
	}
	return r;
}

/* The place of what @parent has called, or NONE. */
static uint32_t find_place(const struct place_index *p, uint32_t parent,
			   const struct call_frame *frame)
{
	const uint64_t hash = hash_place(p, parent, frame);
	size_t at = 0;
	uint32_t place;

	while (hash_index_next(&p->index, hash, &at, &place)) {
		const struct preorder_node *node = &p->order->nodes[place];

		if (node->parent == parent && is_same(call_tree_frame(p->tree, node->frame), frame))
			return place;
	}
	return NONE;
}

/* @places: by nodes of the baseline, whose callers have lower numbers. */
static void weigh(const struct place_index *p, const struct call_tree *baseline, uint32_t *places,
		  struct tree_changes *changes)
{
	const size_t size = call_tree_size(baseline);

	places[CALL_TREE_ROOT] = CALL_TREE_ROOT;
	for (uint32_t i = 0; i < size; i++) {
		const struct call_node *node = call_tree_node(baseline, i);
		const uint32_t parent = places[node->parent];

		if (i != CALL_TREE_ROOT)
			places[i] = parent == NONE
					    ? NONE
					    : find_place(p, parent,
							 call_tree_frame(baseline, node->frame));
		if (places[i] == NONE)
			changes->missing += node->self;
		else
			changes->totals[places[i]] += node->total;
	}
}

int tree_changes_init(const struct call_tree *tree, const struct preorder *order,
		      const struct call_tree *baseline, struct tree_changes *ret)
{
	struct place_index p = {.tree = tree, .order = order, .seed = hash_seed()};
	struct tree_changes changes = {.all = call_tree_total(baseline)};
	uint32_t *places = calloc(call_tree_size(baseline), sizeof(*places));
	int r;

	changes.totals = calloc(order->n_nodes, sizeof(*changes.totals));
	r = places && changes.totals ? index_places(&p) : -ENOMEM;
	if (!r)
		weigh(&p, baseline, places, &changes);
	free(places);
	hash_index_fini(&p.index);
	if (r)
		tree_changes_fini(&changes);
	else
		*ret = changes;
	return r;
}

void tree_changes_fini(struct tree_changes *changes)
{
	free(changes->totals);
	*changes = (struct tree_changes){0};
}

int64_t tree_changes_points(const struct tree_changes *changes, uint32_t place, uint64_t total,
			    uint64_t all)
{
	return report_share(total, all) - report_share(changes->totals[place], changes->all);
}
