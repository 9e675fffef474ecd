/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_entries.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash_index.h"
#include "base/vector.h"

#define FIRST_DEPTH 2 /* below the root and the commands */

struct key_set {
	bool has[REPORT_KEY_COUNT], by_process;
	uint64_t seed;
	struct hash_index index;
	uint32_t *entry_of; /* place: its entry; not for the root and commands */
};

static bool same_key(const struct report_entry *a, const struct report_entry *b)
{
	return a->comm == b->comm && a->dso == b->dso && a->name == b->name &&
	       a->process == b->process && a->kernel == b->kernel;
}

static struct report_entry key_of(const struct report_entries *all, const struct key_set *keys,
				  uint32_t at, const struct call_frame *command)
{
	const struct call_frame *frame = call_tree_frame(all->tree, all->order.nodes[at].frame);

	return (struct report_entry){
		.comm = keys->has[REPORT_COMM] ? command->name : NULL,
		.dso = keys->has[REPORT_DSO] ? frame->dso : NULL,
		.name = keys->has[REPORT_SYM] ? frame->name : NULL,
		.process = keys->by_process ? command->dso : NULL,
		.kernel = keys->has[REPORT_SYM] && frame->kind == FRAME_KERNEL,
	};
}

static int find_entry(struct report_entries *all, struct key_set *keys,
		      const struct report_entry *key, uint32_t *ret)
{
	uint64_t hash = hash_words((uintptr_t)key->comm, (uintptr_t)key->dso, keys->seed);
	size_t at = 0;

	hash = hash_words(hash, (uintptr_t)key->name + key->kernel, (uintptr_t)key->process);
	while (hash_index_next(&keys->index, hash, &at, ret))
		if (same_key(&all->entries[*ret], key))
			return 0;
	*ret = (uint32_t)all->n_entries;
	return hash_index_push(&keys->index, hash, all->entries, all->n_entries, all->capacity,
			       *key);
}

static int assign_entries(struct report_entries *all, struct key_set *keys)
{
	const struct preorder_node *nodes = all->order.nodes;
	const struct call_frame *command = NULL;

	for (uint32_t at = 1; at < all->order.n_nodes; at++) {
		struct report_entry key;
		int r;

		if (nodes[at].depth < FIRST_DEPTH) {
			command = call_tree_frame(all->tree, nodes[at].frame);
			continue;
		}
		key = key_of(all, keys, at, command);
		r = find_entry(all, keys, &key, &keys->entry_of[at]);
		if (r < 0)
			return r;
		all->entries[keys->entry_of[at]].n_nodes++;
	}
	return 0;
}

/* A counting sort. */
static void group_places(struct report_entries *all, const struct key_set *keys)
{
	uint32_t first = 0;

	for (size_t i = 0; i < all->n_entries; i++) {
		all->entries[i].first = first;
		first += all->entries[i].n_nodes;
		all->entries[i].n_nodes = 0;
	}
	for (uint32_t at = 1; at < all->order.n_nodes; at++) {
		struct report_entry *entry;

		if (all->order.nodes[at].depth < FIRST_DEPTH)
			continue;
		entry = &all->entries[keys->entry_of[at]];
		all->places[entry->first + entry->n_nodes++] = at;
	}
}

/* An entry's places ascend, and a subtree is a range: what is below a node follows it. */
static void weigh(struct report_entries *all, struct report_entry *entry)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < entry->n_nodes; i++) {
		uint32_t at = all->places[entry->first + i];
		const struct preorder_node *node = &all->order.nodes[at];

		entry->self += node->self;
		if (at < end)
			continue;
		all->outermost[at] = true;
		entry->children += node->total;
		end = node->end;
	}
}

static int gather(struct report_entries *all, const struct report_options *options)
{
	struct key_set keys = {.seed = hash_seed(), .by_process = options->by_process};
	int r;

	for (size_t i = 0; i < options->n_keys; i++)
		keys.has[options->keys[i]] = true;
	keys.entry_of = calloc(all->order.n_nodes, sizeof(*keys.entry_of));
	r = keys.entry_of ? assign_entries(all, &keys) : -ENOMEM;
	if (!r)
		group_places(all, &keys);
	for (size_t i = 0; !r && i < all->n_entries; i++)
		weigh(all, &all->entries[i]);
	free(keys.entry_of);
	hash_index_fini(&keys.index);
	return r;
}

int report_entries_init(const struct call_tree *tree, const struct report_options *options,
			struct report_entries *ret)
{
	struct report_entries all = {.tree = tree};
	int r = preorder_init(tree, &all.order);

	if (r < 0)
		return r;
	all.places = calloc(all.order.n_nodes, sizeof(*all.places));
	all.outermost = calloc(all.order.n_nodes, sizeof(*all.outermost));
	r = all.places && all.outermost ? 0 : -ENOMEM;
	if (!r)
		r = gather(&all, options);
	if (r < 0)
		report_entries_fini(&all);
	else
		*ret = all;
	return r;
}

void report_entries_fini(struct report_entries *all)
{
	preorder_fini(&all->order);
	free(all->entries);
	free(all->places);
	free(all->outermost);
	*all = (struct report_entries){0};
}
