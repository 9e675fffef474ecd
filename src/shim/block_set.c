/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/block_set.h"

#include <sys/mman.h>

#define PLACE_BITS 17
#define PLACES (1u << PLACE_BITS)
/* That are looked at for one block. */
#define REACH 64
#define MANY UINT8_MAX
/* A place whose block was taken out: search goes on behind it. */
#define LEFT 1

_Alignas(4096) _Atomic uint8_t block_filter[1u << BLOCK_FILTER_BITS];
static _Alignas(4096) _Atomic uintptr_t places[PLACES];

static _Atomic uint8_t *counter_of(const void *block)
{
	return &block_filter[block_hash(block) >> (32 - BLOCK_FILTER_BITS)];
}

/* It stays where it is once it is at its greatest. */
static void count(const void *block, int change)
{
	_Atomic uint8_t *counter = counter_of(block);
	uint8_t seen = atomic_load(counter);

	while (seen != MANY &&
	       !atomic_compare_exchange_weak(counter, &seen, (uint8_t)(seen + change)))
		;
}

static _Atomic uintptr_t *place(const void *block, uint32_t at)
{
	return &places[((block_hash(block) >> (32 - PLACE_BITS)) + at) % PLACES];
}

static bool enter(_Atomic uintptr_t *to, uintptr_t free, const void *block)
{
	return atomic_load_explicit(to, memory_order_relaxed) == free &&
	       atomic_compare_exchange_strong(to, &free, (uintptr_t)block);
}

bool block_set_add(const void *block)
{
	for (uint32_t i = 0; i < REACH; i++) {
		_Atomic uintptr_t *to = place(block, i);

		if (!enter(to, LEFT, block) && !enter(to, 0, block))
			continue;
		count(block, 1);
		return true;
	}
	return false;
}

bool block_set_take(const void *block)
{
	for (uint32_t i = 0; i < REACH; i++) {
		_Atomic uintptr_t *at = place(block, i);
		uintptr_t seen = atomic_load_explicit(at, memory_order_relaxed);

		if (!seen)
			return false;
		if (seen != (uintptr_t)block)
			continue;
		atomic_store(at, LEFT);
		count(block, -1);
		return true;
	}
	return false;
}

void block_set_mark(const void *block)
{
	atomic_store(counter_of(block), MANY);
}

void block_set_clear(void)
{
	madvise((void *)block_filter, sizeof(block_filter), MADV_DONTNEED);
	madvise((void *)places, sizeof(places), MADV_DONTNEED);
}
