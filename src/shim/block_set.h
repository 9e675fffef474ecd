/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block_set.h - which blocks of the heap were sampled, for all that are freed: most were not.
 *
 * One load tells that of most of them.  No function locks or waits; an address is added and taken
 * out by whoever has the block, so no two threads do so at the same time.
 */
#ifndef BOBBIN_SHIM_BLOCK_SET_H
#define BOBBIN_SHIM_BLOCK_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BLOCK_FILTER_BITS 14

/* For each hash how many there are; the greatest number means that many, or more. */
extern _Atomic uint8_t block_filter[1u << BLOCK_FILTER_BITS];

/* Blocks begin at multiples of 16. */
static inline uint32_t block_hash(const void *block)
{
	return (uint32_t)(((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* false: it was not sampled. */
static inline bool block_set_may_have(const void *block)
{
	return atomic_load_explicit(&block_filter[block_hash(block) >> (32 - BLOCK_FILTER_BITS)],
				    memory_order_relaxed);
}

/* false: there is no room near its place. */
bool block_set_add(const void *block);

/* Whether it was there. */
bool block_set_take(const void *block);

/* Have block_set_may_have() be true of a block, for good. */
void block_set_mark(const void *block);

/* In a forked child, whose copies of them are nobody's concern. */
void block_set_clear(void);

#endif
