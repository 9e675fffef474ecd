/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_stacks.h - what was found out about whole stacks.
 *
 * Samples have the same stacks over and over, and comparing one with what is known takes a fraction
 * of looking its frames up.  Stacks are equal if all that a recording says of their frames is, in one
 * program with the same mappings.  Memory is bounded: when it is used up, all are forgotten.
 */
#ifndef BOBBIN_CLI_KNOWN_STACKS_H
#define BOBBIN_CLI_KNOWN_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "profile/stack_sample.h"

struct known_stack;

/* Starts as all zero, but for @seed, see hash_seed(). */
struct known_stacks {
	struct known_stack *stacks;
	size_t count, room;
	struct bobbin_frame *frames; /* of all stacks, one after another */
	size_t frame_count, frame_room;
	struct hash_index index;
	uint64_t seed;
};

void known_stacks_fini(struct known_stacks *stacks);

/* What known_stacks_add() was told of the sample's stack.  false: it is not known. */
bool known_stacks_find(const struct known_stacks *stacks, const struct stack_sample *sample,
		       uint32_t *ret);

/* Add the stack of a sample, which is not known and will mean the same the next time.  0 or -ENOMEM. */
int known_stacks_add(struct known_stacks *stacks, const struct stack_sample *sample,
		     uint32_t value);

#endif
