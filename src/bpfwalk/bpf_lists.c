/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "core/bisect.h"

/* Entries of all lists that are remembered: 16 MiB. */
#define RETIRED_MAX 524288

static void free_chain(struct known_list *list)
{
	while (list) {
		struct known_list *next = list->next;

		free(list);
		list = next;
	}
}

int bpf_lists_init(struct bpf_lists *lists)
{
	lists->seed = hash_seed();
	return map_allocator_init(KERNEL_MAPPINGS, &lists->room);
}

void bpf_lists_fini(struct bpf_lists *lists)
{
	for (unsigned int i = 0; i < LIST_BUCKETS; i++)
		free_chain(lists->buckets[i]);
	for (unsigned int i = 0; i < LISTS_RETIRED; i++)
		free(lists->retired[i]);
	map_allocator_fini(&lists->room);
	*lists = (struct bpf_lists){0};
}

static struct known_list **bucket_of(struct bpf_lists *lists, uint64_t number)
{
	return &lists->numbers[number % NUMBER_BUCKETS];
}

static void add_number(struct bpf_lists *lists, struct known_list *list)
{
	struct known_list **bucket = bucket_of(lists, list->list.number);

	list->next_number = *bucket;
	*bucket = list;
}

static void remove_number(struct bpf_lists *lists, const struct known_list *list)
{
	struct known_list **link = bucket_of(lists, list->list.number);

	while (*link != list)
		link = &(*link)->next_number;
	*link = list->next_number;
}

static struct known_list *add_list(struct bpf_lists *lists, const struct kernel_mapping *entries,
				   uint32_t count, uint64_t hash)
{
	struct known_list *l, **bucket = &lists->buckets[hash % LIST_BUCKETS];
	uint32_t first;

	if (!map_allocator_take(&lists->room, count, &first))
		return NULL;
	l = malloc(sizeof(*l) + count * sizeof(*entries));
	if (!l) {
		map_allocator_give_now(&lists->room, (struct map_run){first, count});
		return NULL;
	}
	*l = (struct known_list){
		.list = {.number = ++lists->last_number, .first = first, .count = count},
		.users = 1,
		.hash = hash,
		.next = *bucket,
	};
	memcpy(l->entries, entries, count * sizeof(*entries));
	memcpy(lists->mappings + first, entries, count * sizeof(*entries));
	*bucket = l;
	add_number(lists, l);
	return l;
}

struct known_list *bpf_lists_get(struct bpf_lists *lists, const struct kernel_mapping *entries,
				 uint32_t count)
{
	size_t size = count * sizeof(*entries);
	struct known_list *l;
	uint64_t hash;

	if (!count || count > KERNEL_LIST_MAX)
		return NULL;
	hash = hash_bytes((const char *)entries, size, lists->seed);
	for (l = lists->buckets[hash % LIST_BUCKETS]; l; l = l->next) {
		if (l->hash != hash || l->list.count != count || memcmp(l->entries, entries, size))
			continue;
		l->users++;
		return l;
	}
	return add_list(lists, entries, count, hash);
}

static void forget(struct bpf_lists *lists, struct known_list **retired)
{
	if (!*retired)
		return;
	lists->retired_entries -= (*retired)->list.count;
	remove_number(lists, *retired);
	free(*retired);
	*retired = NULL;
}

/* The oldest ones make room. */
static void retire(struct bpf_lists *lists, struct known_list *list)
{
	unsigned int oldest = lists->next_retired++;

	forget(lists, &lists->retired[oldest % LISTS_RETIRED]);
	lists->retired[oldest % LISTS_RETIRED] = list;
	lists->retired_entries += list->list.count;
	while (lists->retired_entries > RETIRED_MAX)
		forget(lists, &lists->retired[++oldest % LISTS_RETIRED]);
}

void bpf_lists_put(struct bpf_lists *lists, struct known_list *list)
{
	struct known_list **link;

	if (!list || --list->users)
		return;
	link = &lists->buckets[list->hash % LIST_BUCKETS];
	while (*link != list)
		link = &(*link)->next;
	*link = list->next;
	list->next = NULL;
	map_allocator_give_now(&lists->room, (struct map_run){list->list.first, list->list.count});
	retire(lists, list);
}

void bpf_lists_told(struct bpf_lists *lists, const struct fresh_list *told)
{
	struct known_list *l = malloc(sizeof(*l) + told->count * sizeof(*l->entries));

	/* traces that name it are cut */
	if (!l)
		return;
	*l = (struct known_list){
		.list = {.number = told->number, .first = told->first, .count = told->count},
	};
	for (uint32_t i = 0; i < told->count; i++)
		l->entries[i] = told->mappings[i].mapping;
	add_number(lists, l);
	retire(lists, l);
}

const struct known_list *bpf_lists_find(const struct bpf_lists *lists, uint64_t number)
{
	const struct known_list *l = lists->numbers[number % NUMBER_BUCKETS];

	while (l && l->list.number != number)
		l = l->next_number;
	return l;
}

void bpf_lists_visit(const struct bpf_lists *lists,
		     void (*visit)(void *ctx, const struct known_list *list), void *ctx)
{
	for (unsigned int i = 0; i < LIST_BUCKETS; i++)
		for (const struct known_list *l = lists->buckets[i]; l; l = l->next)
			visit(ctx, l);
}

const struct kernel_mapping *known_list_at(const struct known_list *list, uint64_t addr)
{
	const struct kernel_mapping *m = list->entries;
	uint32_t at = (uint32_t)bisect(i, 0, list->list.count, m[i].end > addr);

	return at < list->list.count && addr >= m[at].start ? &m[at] : NULL;
}
