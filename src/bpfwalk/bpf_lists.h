/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_lists.h - lists of mappings, where the program in the kernel finds them.
 *
 * Processes with equal mappings share a list, so a fork costs nothing until it differs.
 * Lists that are used no more are remembered for a while: traces that were walked by them
 * are still on their way.
 */
#ifndef BOBBIN_BPFWALK_BPF_LISTS_H
#define BOBBIN_BPFWALK_BPF_LISTS_H

#include "bpfwalk/bpf_abi.h"
#include "bpfwalk/map_allocator.h"

#define KERNEL_LIST_MAX 16384
#define LIST_BUCKETS 1024
#define LISTS_RETIRED 4096
#define NUMBER_BUCKETS 4096

struct known_list {
	struct kernel_list list;
	uint32_t users;
	uint64_t hash;
	struct known_list *next;        /* of its hash */
	struct known_list *next_number; /* of its number's */
	struct kernel_mapping entries[];
};

/**
 * struct bpf_lists - all that are in use, and the last ones that were
 * @mappings: memory of the map
 * @room: entries of it that are free
 */
struct bpf_lists {
	struct kernel_mapping *mappings;
	struct map_allocator room;
	struct known_list *buckets[LIST_BUCKETS];
	struct known_list *numbers[NUMBER_BUCKETS];
	struct known_list *retired[LISTS_RETIRED];
	unsigned int next_retired;
	uint32_t retired_entries; /* of all of them */
	uint64_t last_number, seed;
};

/* The rest of @lists is zero, or the caller's.  0 or -ENOMEM. */
int bpf_lists_init(struct bpf_lists *lists);
void bpf_lists_fini(struct bpf_lists *lists);

/* The list with these entries, known or new, with one more user; NULL: there is no room. */
struct known_list *bpf_lists_get(struct bpf_lists *lists, const struct kernel_mapping *entries,
				 uint32_t count);

/* One user less; the kernel must not be told of it any more.  @list may be NULL. */
void bpf_lists_put(struct bpf_lists *lists, struct known_list *list);

/* A list that the kernel has made itself, and told of: remembered, and that is all. */
void bpf_lists_told(struct bpf_lists *lists, const struct fresh_list *told);

/* A list by its number; NULL: it is forgotten. */
const struct known_list *bpf_lists_find(const struct bpf_lists *lists, uint64_t number);

/* Call @visit for each list that is in use. */
void bpf_lists_visit(const struct bpf_lists *lists,
		     void (*visit)(void *ctx, const struct known_list *list), void *ctx);

/* What a list says of an address; NULL: nothing. */
const struct kernel_mapping *known_list_at(const struct known_list *list, uint64_t addr);

#endif
