/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/vector.h"

#define FIRST_DEPTH 2 /* below the root and the commands */

struct key_set {
	bool has[REPORT_KEY_COUNT];
	uint64_t seed;
	struct hash_index index;
	uint32_t *entry_of; /* place: its entry; not for the root and commands */
};

static bool same_key(const struct report_entry *a, const struct report_entry *b)
{
	return a->kernel == b->kernel && !memcmp(a->texts, b->texts, sizeof(a->texts));
}

/* The file of "file:line". */
static int intern_file(struct report_entries *all, const char *place, const char **ret)
{
	const char *colon = strrchr(place, ':');
	char *file = strndup(place, colon ? (size_t)(colon - place) : strlen(place));
	int r = file ? name_pool_intern(&all->texts, file, ret) : -ENOMEM;

	free(file);
	return r;
}

/* Adds to @ret, which has the command's texts. */
static int key_of(struct report_entries *all, const struct key_set *keys, uint32_t at,
		  struct report_entry *ret)
{
	const struct call_frame *frame = call_tree_frame(all->tree, all->order.nodes[at].frame);
	const char *place = frame->place ? frame->place : REPORT_NO_LINE;
	int r = 0;

	if (keys->has[REPORT_DSO])
		ret->texts[REPORT_DSO] = frame->dso;
	if (keys->has[REPORT_SYM])
		ret->texts[REPORT_SYM] = frame->name;
	ret->kernel = keys->has[REPORT_SYM] && frame->kind == FRAME_KERNEL;
	if (keys->has[REPORT_SRCLINE])
		r = name_pool_intern(&all->texts, place, &ret->texts[REPORT_SRCLINE]);
	if (!r && keys->has[REPORT_SRCFILE])
		r = intern_file(all, place, &ret->texts[REPORT_SRCFILE]);
	return r;
}

/* What entries below a command's node have in common. */
static int command_key(struct report_entries *all, const struct key_set *keys,
		       const struct call_frame *command, struct report_entry *ret)
{
	char *labels = strdup(command->dso), *rest = labels;
	int r = labels ? 0 : -ENOMEM;

	*ret = (struct report_entry){0};
	if (keys->has[REPORT_COMM])
		ret->texts[REPORT_COMM] = command->name;
	for (int key = REPORT_FIRST_LABEL; key < REPORT_LABELS_END && !r; key++) {
		const bool is_last = key == REPORT_LABELS_END - 1;
		const char *label = is_last ? rest : strsep(&rest, REPORT_LABEL_GAP);

		if (keys->has[key])
			r = name_pool_intern(&all->texts, label ? label : "", &ret->texts[key]);
	}
	free(labels);
	return r;
}

static int find_entry(struct report_entries *all, struct key_set *keys,
		      const struct report_entry *key, uint32_t *ret)
{
	uint64_t hash = hash_bytes((const char *)key->texts, sizeof(key->texts),
				   keys->seed + key->kernel);
	size_t at = 0;

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
	struct report_entry command = {0};
	int r = 0;

	for (uint32_t at = 1; at < all->order.n_nodes && !r; at++) {
		struct report_entry key = command;

		if (nodes[at].depth < FIRST_DEPTH) {
			r = command_key(all, keys, call_tree_frame(all->tree, nodes[at].frame),
					&command);
			continue;
		}
		r = key_of(all, keys, at, &key);
		if (!r)
			r = find_entry(all, keys, &key, &keys->entry_of[at]);
		if (!r)
			all->entries[keys->entry_of[at]].n_nodes++;
	}
	return r;
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
	struct key_set keys = {.seed = hash_seed()};
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

static bool has_lines(const struct report_entries *all)
{
	for (uint32_t i = 0; i < call_tree_frames(all->tree); i++)
		if (call_tree_frame(all->tree, i)->place)
			return true;
	return false;
}

static int find_function(struct report_entries *all, struct hash_index *index, uint32_t frame)
{
	const struct call_frame *key = call_tree_frame(all->tree, frame), *known;
	const uint64_t hash = hash_words((uintptr_t)key->name, (uintptr_t)key->dso, key->kind);
	uint32_t *ret = &all->functions[frame];
	size_t at = 0;

	while (hash_index_next(index, hash, &at, ret)) {
		known = call_tree_frame(all->tree, *ret);
		if (known->name == key->name && known->dso == key->dso && known->kind == key->kind)
			return 0;
	}
	*ret = frame;
	return hash_index_add(index, hash, frame);
}

/* Branches of call graphs are of functions, whatever entries are of. */
static int find_functions(struct report_entries *all)
{
	const size_t count = call_tree_frames(all->tree);
	struct hash_index index = {0};
	int r = 0;

	if (!has_lines(all))
		return 0;
	all->functions = calloc(count, sizeof(*all->functions));
	if (!all->functions)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !r; i++)
		r = find_function(all, &index, i);
	hash_index_fini(&index);
	return r;
}

int report_entries_init(const struct call_tree *tree, const struct report_options *options,
			struct report_entries *ret)
{
	struct report_entries all = {.tree = tree};
	int r = preorder_init(tree, &all.order);

	if (r < 0)
		return r;
	name_pool_init(&all.texts);
	all.places = calloc(all.order.n_nodes, sizeof(*all.places));
	all.outermost = calloc(all.order.n_nodes, sizeof(*all.outermost));
	r = all.places && all.outermost ? 0 : -ENOMEM;
	if (!r)
		r = gather(&all, options);
	if (!r)
		r = find_functions(&all);
	if (r < 0)
		report_entries_fini(&all);
	else
		*ret = all;
	return r;
}

void report_entries_fini(struct report_entries *all)
{
	preorder_fini(&all->order);
	name_pool_fini(&all->texts);
	free(all->functions);
	free(all->entries);
	free(all->places);
	free(all->outermost);
	*all = (struct report_entries){0};
}
