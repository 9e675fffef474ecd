/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_layout.h - the layout of a compiled table.
 *
 *	head		what this is, and how many there are of what follows
 *	pairs		the commonest rows: their distance from the row before, their rule
 *	words		the packed rules, u64 each
 *	wide rules	those that no word holds
 *	beginners	a bit for each rule: functions begin with its rows
 *	index lines	where the blocks of a chunk of text are
 *	blocks		rows
 *
 * All numbers are little-endian, and nothing in a table depends on where it is.  A lookup
 * reads one index line and one block, each of which lies in one cache line.
 *
 * A chunk has 16 KiB of text.  Its index line, half of a cache line, says which block is
 * its first, and where in the chunk the others start.  Where 15 blocks are too few, it says
 * which line is the first of four, each for a quarter.
 *
 * A block has four parts.  Its head says where in the chunk all but the first start, and how
 * many tokens each has.  A part begins with the rule at its first byte of text.  A token
 * is a row, or a piece of one; its distance is from the start of the one before.
 *
 *	0..21		128 to 7 * 128, then 1024 to 15 * 1024 bytes; the rule goes on
 *	22..127		a pair: the distance, and the rule
 *	128..255	1 to 128 bytes; the last bytes of the part, from the end on, are
 *			the rules of these tokens
 *
 * So what a part's rows are can be found out without a decision for each of them.  Rules
 * whose number does not fit in a byte are in wide parts: u16 first rule, then for each row
 * u16 distance, 0 for none, and u16 rule.
 */
#ifndef BOBBIN_TABLE_TABLE_LAYOUT_H
#define BOBBIN_TABLE_TABLE_LAYOUT_H

#include <bobbin/types.h>

#define TABLE_MAGIC "bobbinCT"
#define TABLE_MAGIC_SIZE 8
#define TABLE_VERSION 1
#define TABLE_BUILD_ID_MAX 20

/* Offsets in the head. */
#define TABLE_AT_VERSION 8     /* u32 */
#define TABLE_AT_MACHINE 12    /* u16, as in an ELF header */
#define TABLE_AT_BIG_ENDIAN 14 /* u8: the code's, not the table's */
#define TABLE_AT_ID_LENGTH 15  /* u8 */
#define TABLE_AT_BUILD_ID 16   /* 20 bytes */
#define TABLE_AT_CHUNKS 36     /* u32: lines that are looked at first */
#define TABLE_AT_START 40      /* u64: address of the first chunk */
#define TABLE_AT_END 48        /* u64: after the last row */
#define TABLE_AT_LINES 56      /* u32: all lines */
#define TABLE_AT_BLOCKS 60     /* u32 */
#define TABLE_AT_WORDS 64      /* u32 */
#define TABLE_AT_WIDE 68       /* u32 */
#define TABLE_HEAD_SIZE 128

/* u16 distances of all tokens, then u8 rules of those up to the last pair. */
#define TABLE_DISTANCES_SIZE 512
#define TABLE_PAIRS_SIZE (TABLE_DISTANCES_SIZE + TABLE_FIRST_PLAIN)
#define TABLE_WORD_SIZE 8

/* A wide rule: CFA, RA and FP, i32 offset, u8 how and u8 register each; and the rest. */
#define TABLE_PLACE_SIZE 6
#define TABLE_WIDE_PLUS 18 /* i16 */
#define TABLE_WIDE_INDEX 20
#define TABLE_WIDE_FLAGS 21
#define TABLE_WIDE_SIZE 32

/* Text of a chunk, of a quarter of it, ... of the last one. */
#define TABLE_CHUNK_SHIFT 14
#define TABLE_QUARTER_SHIFT 2
#define TABLE_LEVELS 5

/* Rules of a table. */
#define TABLE_MAX_RULES 0xffffu

/* A line: u32 first block or line, u16 starts of the other blocks. */
#define TABLE_LINE_SIZE 32
#define TABLE_LINE_BLOCKS 15
#define TABLE_LINE_SPLIT 0x80000000u
#define TABLE_NO_START 0x7fffu

/* A block: u16 starts of all parts but the first, u16 of four bits for each part, the parts. */
#define TABLE_BLOCK_SIZE 64
#define TABLE_BLOCK_PARTS 4
#define TABLE_BLOCK_TOKENS 6 /* where the counts are */
#define TABLE_BLOCK_HEAD 8

#define TABLE_PART_SIZE 14
#define TABLE_PART_TOKENS 12
#define TABLE_PART_WIDE 15 /* instead of a count */
#define TABLE_WIDE_ROWS 3

#define TABLE_FIRST_PAIR 22
#define TABLE_FIRST_PLAIN 128
#define TABLE_PLAIN_MAX 128
#define TABLE_SMALL_SKIP 128
#define TABLE_LARGE_SKIP 1024
#define TABLE_SMALL_SKIPS 7
/* Rules of which a byte is the number. */
#define TABLE_BYTE_RULES 256

#endif
