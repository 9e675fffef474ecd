/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/live_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"

#define BUCKETS (1u << 14)

struct live_blocks {
	struct live_block *buckets[BUCKETS];
	size_t count;
	uint64_t seed; /* addresses may be a liar's */
};

int live_blocks_open(struct live_blocks **ret)
{
	struct live_blocks *blocks = calloc(1, sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	blocks->seed = hash_seed();
	*ret = blocks;
	return 0;
}

static size_t bucket_of(const struct live_blocks *blocks, int pid, uint64_t address)
{
	return hash_words(address, (uint64_t)pid, blocks->seed) % BUCKETS;
}

static void unlink_at(struct live_blocks *blocks, struct live_block **at)
{
	struct live_block *block = *at;

	*at = block->next;
	blocks->count--;
	free(block);
}

void live_blocks_free(struct live_blocks *blocks, int pid, uint64_t address)
{
	struct live_block **at = &blocks->buckets[bucket_of(blocks, pid, address)];

	while (*at && ((*at)->pid != pid || (*at)->address != address))
		at = &(*at)->next;
	if (*at)
		unlink_at(blocks, at);
}

bool live_blocks_has(const struct live_blocks *blocks, int pid, uint64_t address, uint64_t time)
{
	const struct live_block *block = blocks->buckets[bucket_of(blocks, pid, address)];

	while (block && (block->pid != pid || block->address != address))
		block = block->next;
	return block && block->time == time;
}

int live_blocks_add(struct live_blocks *blocks, const struct live_block *like,
		    const struct bobbin_frame *frames)
{
	const size_t size = like->count * sizeof(*frames);
	struct live_block **bucket = &blocks->buckets[bucket_of(blocks, like->pid, like->address)];
	struct live_block *block;

	live_blocks_free(blocks, like->pid, like->address);
	if (blocks->count == LIVE_BLOCKS_MAX)
		return -ENOSPC;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return -ENOMEM;
	*block = *like;
	if (size)
		memcpy(block->frames, frames, size);
	block->next = *bucket;
	*bucket = block;
	blocks->count++;
	return 0;
}

int live_blocks_visit(struct live_blocks *blocks, int pid, bool forget,
		      int (*visit)(void *ctx, const struct live_block *block), void *ctx)
{
	int r = 0;

	for (size_t i = 0; i < BUCKETS && !r; i++) {
		struct live_block **at = &blocks->buckets[i];

		while (*at && !r) {
			if (pid && (*at)->pid != pid) {
				at = &(*at)->next;
				continue;
			}
			r = visit(ctx, *at);
			if (forget)
				unlink_at(blocks, at);
			else
				at = &(*at)->next;
		}
	}
	return r;
}

void live_blocks_close(struct live_blocks *blocks)
{
	if (!blocks)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (blocks->buckets[i])
			unlink_at(blocks, &blocks->buckets[i]);
	free(blocks);
}
