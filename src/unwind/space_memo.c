/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/space_memo.h"

#include <stdlib.h>

#define CACHE_LINE 64
#define PREFETCH_TOP 2048 /* bytes in which the innermost few frames mostly lie */

#define MEMO_STACKS 4

struct space_stacks {
	uint64_t generation; /* of the mappings */
	struct walk_memo stacks[MEMO_STACKS];
};

/* Threads' stacks are megabytes apart. */
static unsigned int stack_number(uint64_t sp)
{
	return (unsigned int)((sp >> 20) * 0x9e3779b97f4a7c15ull >> 62);
}

static struct space_stacks *new_stacks(uint64_t generation)
{
	struct space_stacks *stacks = malloc(sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->generation = generation;
	for (unsigned int i = 0; i < MEMO_STACKS; i++)
		memo_init(&stacks->stacks[i]);
	return stacks;
}

struct walk_memo *space_memo(struct bobbin_space *space, uint64_t sp)
{
	struct space_stacks *memo = space->memo;

	if (!memo)
		memo = space->memo = new_stacks(space->generation);
	if (!memo)
		return NULL;
	if (memo->generation != space->generation) {
		for (unsigned int i = 0; i < MEMO_STACKS; i++)
			memo_forget(&memo->stacks[i]);
		memo->generation = space->generation;
	}
	return &memo->stacks[stack_number(sp)];
}

void copy_prefetch(const struct bobbin_stack_copy *copy, const struct walk_memo *memo)
{
	const struct memo_walk *last = memo ? &memo->walks[memo->newest] : NULL;
	size_t top = copy->size < PREFETCH_TOP ? copy->size : PREFETCH_TOP;

	for (size_t i = 0; i < top; i += CACHE_LINE)
		__builtin_prefetch(copy->data + i);
	for (uint32_t i = 0; last && i < last->count; i++) {
		uint64_t offset = last->links[i].sp - copy->addr;

		if (offset - top < copy->size - top)
			__builtin_prefetch(copy->data + offset - 1);
	}
}
