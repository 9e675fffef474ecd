/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_chunks.h - a filter before the search for a mapping.
 *
 * Most words of a stack are no code addresses.  A bit stands for all chunks of memory with the
 * same hash: if it is clear, no mapping has a byte in them.
 */
#ifndef BOBBIN_TARGET_CODE_CHUNKS_H
#define BOBBIN_TARGET_CODE_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CHUNK_SHIFT 21 /* of 2 MiB */
#define CHUNK_BITS 12

struct code_chunks {
	uint64_t bits[1u << (CHUNK_BITS - 6)];
};

static inline uint64_t code_chunk_hash(uint64_t chunk)
{
	return chunk * 0x9e3779b97f4a7c15ull >> (64 - CHUNK_BITS);
}

/* @start is below @end. */
static inline void code_chunks_add(struct code_chunks *chunks, uint64_t start, uint64_t end)
{
	const uint64_t first = start >> CHUNK_SHIFT, last = (end - 1) >> CHUNK_SHIFT;

	if ((last - first) >> CHUNK_BITS) {
		memset(chunks->bits, 0xff, sizeof(chunks->bits));
		return;
	}
	for (uint64_t chunk = first; chunk <= last; chunk++) {
		const uint64_t hash = code_chunk_hash(chunk);

		chunks->bits[hash / 64] |= 1ull << hash % 64;
	}
}

static inline bool code_chunks_may_have(const struct code_chunks *chunks, uint64_t addr)
{
	const uint64_t hash = code_chunk_hash(addr >> CHUNK_SHIFT);

	return chunks->bits[hash / 64] >> hash % 64 & 1;
}

#endif
