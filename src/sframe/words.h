/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * words.h - the numbers in a row, without a branch on how wide they are.
 *
 * A function's FRE type gives the width of starts, a row's info byte that of data
 * words.  Both change from one lookup to the next, and a branch on them costs more
 * than the row.  So four bytes are loaded and cut to size wherever the section has
 * four bytes; its last rows are read bytewise.
 */
#ifndef BOBBIN_SFRAME_WORDS_H
#define BOBBIN_SFRAME_WORDS_H

#include "sframe/layout.h"

/* Words that a row of an ordinary function may have, and bytes to load them. */
#define SFRAME_USUAL_WORDS 3
#define SFRAME_USUAL_WORDS_SIZE (4 * SFRAME_USUAL_WORDS)

/* Bytes that are read at once for a start and the info byte after it. */
#define SFRAME_START_SIZE 5

/**
 * struct sframe_start_format - how to cut a start out of four bytes
 * @shift: with big-endian sections
 * @mask: with little-endian sections
 */
struct sframe_start_format {
	unsigned int shift;
	uint32_t mask;
};

/* @width: bytes of a start, 1, 2 or 4 */
static BOBBIN_ALWAYS_INLINE struct sframe_start_format sframe_start_format_of(unsigned int width)
{
	unsigned int shift = 32 - 8 * width;

	return (struct sframe_start_format){.shift = shift, .mask = UINT32_MAX >> shift};
}

/**
 * sframe_read_start() - the start of a row
 * @p: the row; SFRAME_START_SIZE bytes can be read
 * @format: of the function's starts
 * @big_endian: of the section
 * @fault: set if the memory cannot be read
 */
static BOBBIN_ALWAYS_INLINE uint32_t sframe_read_start(const uint8_t *p,
						       struct sframe_start_format format,
						       bool big_endian, bool *fault)
{
	uint32_t start = memory_u32(p, big_endian, fault);

	return big_endian ? start >> format.shift : start & format.mask;
}

/* The same where the section has just @width bytes left: in user space bytewise. */
static inline uint32_t sframe_read_last_start(const uint8_t *p, unsigned int width, bool big_endian,
					      bool *fault)
{
	uint32_t start = 0;

	if (!MEMORY_IS_OURS)
		return (uint32_t)memory_number(p, width, big_endian, fault);
	for (unsigned int i = 0; i < sizeof(start) && i < width; i++)
		start |= (uint32_t)memory_u8(p + i, fault) << 8 * (big_endian ? width - 1 - i : i);
	return start;
}

/**
 * sframe_read_word() - a signed data word, or 0 where there is none
 * @p: the first word of the row; SFRAME_USUAL_WORDS_SIZE bytes can be read
 * @info: of the row, valid
 * @i: < SFRAME_USUAL_WORDS
 * @big_endian: of the section
 * @fault: set if the memory cannot be read
 */
static BOBBIN_ALWAYS_INLINE int32_t sframe_read_word(const uint8_t *p, uint8_t info, unsigned int i,
						     bool big_endian, bool *fault)
{
	unsigned int shift = SFRAME_FRE_WORD_SHIFT(info), excess = 32 - (8 << shift);
	uint32_t word = memory_u32(p + (i << shift), big_endian, fault);

	word = big_endian ? word : word << excess;
	return ((int32_t)word >> excess) & -(int32_t)(i < SFRAME_FRE_NUM_WORDS(info));
}

#endif
