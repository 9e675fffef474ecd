/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaf_rank.h - how many of a leaf's starts are not after an address.
 *
 * All starts are compared, without a branch that could be mispredicted.  Compilers vectorise
 * the loop.  On x86 summing a vector would take longer than all the rest; as the starts
 * ascend, the first bit of a mask gives the same number.
 */
#ifndef BOBBIN_CODEMAP_LEAF_RANK_H
#define BOBBIN_CODEMAP_LEAF_RANK_H

#include <stdint.h>

#include "core/deps.h"

#define LEAF_RANGES 28 /* makes a leaf half a KiB */
#define LEAF_LINE 32   /* numbers in a cache line: the last four are none of the starts */

#ifdef __SSE2__
#include <emmintrin.h>

static BOBBIN_ALWAYS_INLINE unsigned int after_of(const int16_t *starts, __m128i at)
{
	const __m128i *v = (const __m128i *)starts;

	return (unsigned int)_mm_movemask_epi8(
		_mm_packs_epi16(_mm_cmpgt_epi16(v[0], at), _mm_cmpgt_epi16(v[1], at)));
}

/* @starts: a cache line, aligned */
static BOBBIN_ALWAYS_INLINE unsigned int leaf_rank(const int16_t starts[LEAF_LINE], int16_t at)
{
	__m128i all = _mm_set1_epi16(at);
	unsigned int after = after_of(starts, all) | after_of(starts + 16, all) << 16;

	return (unsigned int)__builtin_ctz(after | 1u << LEAF_RANGES);
}
#else
static BOBBIN_ALWAYS_INLINE unsigned int leaf_rank(const int16_t starts[LEAF_LINE], int16_t at)
{
	int16_t after = 0;

	for (unsigned int i = 0; i < LEAF_RANGES; i++)
		after += starts[i] > at;
	return (unsigned int)(LEAF_RANGES - after);
}
#endif

#endif
