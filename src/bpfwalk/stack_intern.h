/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_intern.h - stacks, stored once, by the hashes that the program in the kernel names them by.
 *
 *	record: new frames, hash of their callers ──► the whole stack
 *
 * A tree of frames, whose roots are the lists of mappings.  When it has become large, or a
 * record names what it does not have, a new epoch begins: all hashes are others, and so the
 * program gives out everything again.  The frames of the epoch before are still known, for
 * records that are on their way.
 */
#ifndef BOBBIN_BPFWALK_STACK_INTERN_H
#define BOBBIN_BPFWALK_STACK_INTERN_H

#include "base/hash_index.h"
#include "bpfwalk/bpf_abi.h"

/* After this many frames a new epoch begins. */
#define STACK_NODES 262144

/* A frame, and the node of its caller; a root has the list's number, and leads to itself. */
struct stack_node {
	uint64_t hash, word;
	uint32_t outer;
};

struct stack_nodes {
	struct hash_index index;
	struct stack_node *list;
	size_t count, room;
};

struct stack_intern {
	struct stack_key key;
	uint64_t epoch;
	struct stack_nodes nodes[2]; /* of even and odd epochs */
};

/* A part of a stack, as a record has it. */
struct stack_part {
	const uint64_t *words; /* leaf first */
	uint32_t count;
	bool from_root;
	uint64_t outer; /* the list's number, or a hash */
	uint16_t epoch;
};

/* With a new key and nothing in it. */
void stack_intern_init(struct stack_intern *store);
void stack_intern_fini(struct stack_intern *store);

/* Learn a part, and what stands for the whole stack.  0; -ENOENT: its callers are not known; -ENOMEM. */
int stack_intern_add(struct stack_intern *store, const struct stack_part *part, uint32_t *ret);

/*
 * That stack, leaf first, of at most @max words, and its list.  The number of words; -ENOENT:
 * there are more.  The @epoch is the store's, or the one before.
 */
int stack_intern_read(const struct stack_intern *store, uint16_t epoch, uint32_t node,
		      uint64_t *ret, uint32_t max, uint64_t *list);

/* Whether there is so much that a new epoch should begin. */
bool stack_intern_is_full(const struct stack_intern *store);

/* Begin a new epoch. */
void stack_intern_renew(struct stack_intern *store);

#endif
