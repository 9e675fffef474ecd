/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_blocks.h - sampled blocks of heaps that are not freed yet, each with its stack.
 */
#ifndef BOBBIN_PROFILE_LIVE_BLOCKS_H
#define BOBBIN_PROFILE_LIVE_BLOCKS_H

#include <bobbin/unwind.h>
#include <stdint.h>

/* Blocks that are remembered; others are counted only. */
#define LIVE_BLOCKS_MAX (1u << 18)

struct live_blocks;

/**
 * struct live_block - one of them
 * @address: in the process @pid
 * @time: when it was allocated
 * @tid: who allocated it
 * @weight: bytes that it stands for
 * @ip: where the allocator was called
 * @reason, @count, @frames: of its stack, with those that were left out marked
 */
struct live_block {
	struct live_block *next;
	uint64_t address, time, weight, ip;
	int pid, tid;
	uint32_t cpu, count;
	enum bobbin_reason reason;
	struct bobbin_frame frames[];
};

/* 0 or -ENOMEM. */
int live_blocks_open(struct live_blocks **ret);
void live_blocks_close(struct live_blocks *blocks); /* NULL is fine */

/*
 * Add a block, and forget what was at its address; @like: all but its frames.  0; -ENOSPC: there are
 * too many; -ENOMEM.
 */
int live_blocks_add(struct live_blocks *blocks, const struct live_block *like,
		    const struct bobbin_frame *frames);

/* Whether the block that was allocated then is known, and not freed. */
bool live_blocks_has(const struct live_blocks *blocks, int pid, uint64_t address, uint64_t time);

/* It is freed, if it is known. */
void live_blocks_free(struct live_blocks *blocks, int pid, uint64_t address);

/*
 * Call @visit for each block of a process, or of all with 0, until it returns another number than 0,
 * which is returned; @forget: and forget them.
 */
int live_blocks_visit(struct live_blocks *blocks, int pid, bool forget,
		      int (*visit)(void *ctx, const struct live_block *block), void *ctx);

#endif
