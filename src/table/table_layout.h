/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_layout.h - the layout of a compiled table.
 *
 *	head		what this is, and how many there are of what follows
 *	pairs		the commonest rows: their distance from the row before, their rule
 *	words		the packed rules, u64 each
 *	wide rules	those that no word holds
 *	beginners	a bit for each rule: functions begin with its rows
 *	index		which block has the rows of a cell of text
 *	blocks		rows
 *
 * All numbers are little-endian, and nothing in a table depends on where it is.  A lookup
 * reads one entry of the index and one block, each of which lies in one cache line.
 *
 * A cell is 2 KiB of text.  Its entry, a u64, has the number of the block that has the cell's first
 * byte and, below it, four starts of 11 bits each: the next blocks start one byte after these
 * offsets in the cell, and unused starts are 0x7ff.  If more than four blocks start in the cell, the
 * highest bit is set, and the bits below it are the index of the first of four further entries, one
 * for each quarter.  Starts in the entry of a quarter are offsets in the whole cell, too.
 *
 * A block has up to eight parts, and a part up to eight rows.  The first row of a part stands
 * where the block says, each of the others at a distance from the one before.  A row is one
 * byte, its token:
 *
 *	0..127		a pair: the distance, and the rule
 *	128..255	1 to 128 bytes; the rule is in the block's list of rules
 *
 * From its start, a block has
 *
 *	u16		where it starts: the low 15 bits of the distance from the table's start
 *	u8		bits 0 to 2: the last part, 4 to 7; bit 7: rules in the list are u16, not u8
 *	u8...		the tokens of all parts
 *
 * and from its end, backward, so that the first one is last:
 *
 *	u16...		where the parts but the first one start, from the block's start on
 *	u8...		for each part, bits 0 to 2: tokens, less one; bits 3 to 6: of them, those
 *			whose rule is in the list
 *	u8 or u16...	the list of rules
 *
 * A block with fewer than five parts has empty ones after them, whose start is 0x7fff.  So a lookup
 * decodes one part of a block, without a branch for each row and without the parts before it.
 */
#ifndef BOBBIN_TABLE_TABLE_LAYOUT_H
#define BOBBIN_TABLE_TABLE_LAYOUT_H

#include <bobbin/types.h>

#define TABLE_MAGIC "bobbinCT"
#define TABLE_MAGIC_SIZE 8
#define TABLE_VERSION 2
#define TABLE_BUILD_ID_MAX 20

/* Offsets in the head. */
#define TABLE_AT_VERSION 8     /* u32 */
#define TABLE_AT_MACHINE 12    /* u16, as in an ELF header */
#define TABLE_AT_BIG_ENDIAN 14 /* u8: the code's, not the table's */
#define TABLE_AT_ID_LENGTH 15  /* u8 */
#define TABLE_AT_BUILD_ID 16   /* 20 bytes */
#define TABLE_AT_CELLS 36      /* u32: entries that are looked at first */
#define TABLE_AT_START 40      /* u64: address of the first cell */
#define TABLE_AT_END 48        /* u64: after the last row */
#define TABLE_AT_ENTRIES 56    /* u32: all entries of the index */
#define TABLE_AT_BLOCKS 60     /* u32 */
#define TABLE_AT_WORDS 64      /* u32 */
#define TABLE_AT_WIDE 68       /* u32 */
#define TABLE_HEAD_SIZE 128

/* u8 distances of all tokens, then u8 rules of the pairs. */
#define TABLE_DISTANCES_SIZE 256
#define TABLE_FIRST_PLAIN 128
#define TABLE_PLAIN_MAX 128
#define TABLE_PAIRS_SIZE (TABLE_DISTANCES_SIZE + TABLE_FIRST_PLAIN)
#define TABLE_WORD_SIZE 8

/* A wide rule: CFA, RA and FP, i32 offset, u8 how and u8 register each; and the rest. */
#define TABLE_PLACE_SIZE 6
#define TABLE_WIDE_PLUS 18 /* i16 */
#define TABLE_WIDE_INDEX 20
#define TABLE_WIDE_FLAGS 21
#define TABLE_WIDE_SIZE 32

/* Rules of a table. */
#define TABLE_MAX_RULES 0xffffu
/* Rules of which a byte is the number. */
#define TABLE_BYTE_RULES 256

/* Text of a cell, of a quarter of it, ... of the last one. */
#define TABLE_CELL_SHIFT 11
#define TABLE_QUARTER_SHIFT 2
#define TABLE_LEVELS 4

#define TABLE_ENTRY_SIZE 8
#define TABLE_ENTRY_STARTS 4
#define TABLE_START_BITS 11
#define TABLE_NO_START 0x7ffu
#define TABLE_ENTRY_BLOCK (TABLE_ENTRY_STARTS * TABLE_START_BITS) /* the bit from which on */
#define TABLE_ENTRY_SPLIT (1ull << 63)
#define TABLE_MAX_BLOCKS (1u << (63 - TABLE_ENTRY_BLOCK))

#define TABLE_BLOCK_SIZE 64
/* Rows of a block start at most so far from it. */
#define TABLE_BLOCK_REACH 0x7f00u
#define TABLE_BLOCK_FLAGS 2
#define TABLE_BLOCK_WIDE 0x80u
#define TABLE_BLOCK_TOKENS 3
#define TABLE_LEAST_PARTS 5
#define TABLE_MOST_PARTS 8
#define TABLE_PART_TOKENS 8
#define TABLE_NO_PART 0x7fffu

#endif
