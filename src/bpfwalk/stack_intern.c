/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/stack_intern.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

void stack_intern_init(struct stack_intern *store)
{
	*store = (struct stack_intern){.key = {.seed = hash_seed(), .factor = hash_seed() | 1}};
}

static void forget(struct stack_nodes *nodes)
{
	hash_index_fini(&nodes->index);
	free(nodes->list);
	*nodes = (struct stack_nodes){0};
}

void stack_intern_fini(struct stack_intern *store)
{
	forget(&store->nodes[0]);
	forget(&store->nodes[1]);
}

static bool find(const struct stack_nodes *nodes, uint64_t hash, uint32_t *ret)
{
	size_t at = 0;

	while (hash_index_next(&nodes->index, hash, &at, ret))
		if (nodes->list[*ret].hash == hash)
			return true;
	return false;
}

/* A node that may be known: the program forgets, too. */
static int add(struct stack_nodes *nodes, uint64_t hash, uint64_t word, uint32_t outer,
	       uint32_t *ret)
{
	if (find(nodes, hash, ret))
		return 0;
	*ret = (uint32_t)nodes->count;
	return hash_index_push(&nodes->index, hash, nodes->list, nodes->count, nodes->room,
			       (struct stack_node){hash, word, outer});
}

/* The node that the new words of a part were called from. */
static int find_outer(const struct stack_intern *store, struct stack_nodes *nodes,
		      const struct stack_part *part, uint64_t epoch, uint32_t *ret)
{
	uint64_t hash;

	if (!part->from_root)
		return find(nodes, part->outer, ret) ? 0 : -ENOENT;
	hash = stack_root(&store->key, epoch, part->outer);
	return add(nodes, hash, part->outer, (uint32_t)nodes->count, ret);
}

static int add_words(const struct stack_intern *store, struct stack_nodes *nodes,
		     const struct stack_part *part, uint32_t *node)
{
	int r = 0;

	for (uint32_t i = part->count; i-- && !r;) {
		uint64_t hash = stack_hash(store->key.factor, nodes->list[*node].hash,
					   part->words[i]);

		r = add(nodes, hash, part->words[i], *node, node);
	}
	return r;
}

int stack_intern_add(struct stack_intern *store, const struct stack_part *part, uint32_t *ret)
{
	uint16_t age = (uint16_t)(store->epoch - part->epoch);
	struct stack_nodes *nodes = &store->nodes[part->epoch % 2];
	int r;

	if (age > 1)
		return -ENOENT;
	r = find_outer(store, nodes, part, store->epoch - age, ret);
	return r ? r : add_words(store, nodes, part, ret);
}

int stack_intern_read(const struct stack_intern *store, uint16_t epoch, uint32_t node,
		      uint64_t *ret, uint32_t max, uint64_t *list)
{
	const struct stack_node *at = &store->nodes[epoch % 2].list[node];
	const struct stack_node *first = store->nodes[epoch % 2].list;
	uint32_t count = 0;

	for (; &first[at->outer] != at; at = &first[at->outer]) {
		if (count == max)
			return -ENOENT;
		ret[count++] = at->word;
	}
	*list = at->word;
	return (int)count;
}

bool stack_intern_is_full(const struct stack_intern *store)
{
	return store->nodes[store->epoch % 2].count >= STACK_NODES;
}

void stack_intern_renew(struct stack_intern *store)
{
	store->epoch++;
	forget(&store->nodes[store->epoch % 2]);
}
