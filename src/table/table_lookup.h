/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_lookup.h - the row at an address, in user space and in programs of the kernel.
 *
 * The including file says how the bytes of a table are reached, and includes this.
 */
#ifndef BOBBIN_TABLE_TABLE_LOOKUP_H
#define BOBBIN_TABLE_TABLE_LOOKUP_H

#include "core/memory.h"
#include "table/table_parts.h"

/*
 * @size bytes, a power of two, at a multiple of @size from the start of the table; @at is
 * computed from the pointers of @t.  NULL: there are none, which only a kernel says.
 */
static const uint8_t *table_piece(const struct compiled_table *t, const uint8_t *at,
				  unsigned int size);

/* The pairs, TABLE_PAIRS_SIZE bytes. */
static const uint8_t *table_pairs(const struct compiled_table *t);

/* An index that is below @end whatever the bytes are: BPF's verifier wants to see it. */
#ifdef __bpf__
static BOBBIN_ALWAYS_INLINE uint64_t index_below(uint64_t index, uint64_t end)
{
	__asm__ volatile("" : "+r"(index));
	return index < end ? index : 0;
}
#else
#define index_below(index, end) (index)
#endif

/**
 * struct table_steps - what a lookup has found out so far
 * @wanted: what is looked up, from the start of its block on
 * @limit: of what the entry of the index says that the block has, from there on
 * @rows: of the part of the block that has the wanted row
 * @listed: rules in the block's list that are those of the parts before
 * @start, @end: text of the part, from the block's start on
 * @first, @last: where rows of the part start, from its start on: of each four, in the 16 bits of
 *	a word
 *
 * The stack of a BPF program is small: it has this in a map.
 */
struct table_steps {
	uint32_t wanted, limit, rows, listed, start, end;
	uint64_t first, last;
};

/* Make the compiler read @steps from memory again. */
#ifdef __bpf__
#define TABLE_STEP() __asm__ volatile("" ::: "memory")
#else
#define TABLE_STEP()
#endif

#define EACH_16 0x0001000100010001ull
#define EACH_8 0x0101010101010101ull

/*
 * The prefix sums of four 16-bit numbers in a word; or four copies of one. The factor is hidden
 * because compilers would make six instructions of the multiplication.
 */
static BOBBIN_ALWAYS_INLINE uint64_t times_each_16(uint64_t numbers)
{
	uint64_t factor = EACH_16;

#ifndef __bpf__
	__asm__("" : "+r"(factor));
#endif
	return numbers * factor;
}

/* 1 in each of four 16-bit lanes whose number is at most @wanted; all numbers are below 2^15. */
static BOBBIN_ALWAYS_INLINE uint64_t at_most(uint64_t numbers, uint32_t wanted)
{
	return (times_each_16(wanted | 0x8000) - numbers) >> 15 & EACH_16;
}

static BOBBIN_ALWAYS_INLINE uint32_t sum_16(uint64_t counts)
{
	return (uint32_t)(times_each_16(counts) >> 48);
}

static BOBBIN_ALWAYS_INLINE uint32_t sum_8(uint64_t counts)
{
	return (uint32_t)(counts * EACH_8 >> 56);
}

/* The entry of the index for an offset. */
static BOBBIN_ALWAYS_INLINE int find_entry(const struct compiled_table *t, uint64_t offset,
					   uint64_t *ret)
{
	uint64_t number = offset >> TABLE_CELL_SHIFT;
	unsigned int shift = TABLE_CELL_SHIFT;
	const uint8_t *entry;

	for (unsigned int level = 0; level < TABLE_LEVELS; level++) {
		entry = table_piece(t, t->index + number * TABLE_ENTRY_SIZE, TABLE_ENTRY_SIZE);
		if (!MEMORY_IS_OURS && !entry)
			break;
		*ret = load_u64(entry, false);
		if (!(*ret & TABLE_ENTRY_SPLIT))
			return 0;
		shift -= TABLE_QUARTER_SHIFT;
		number = (*ret & ~TABLE_ENTRY_SPLIT) +
			 (offset >> shift & ((1u << TABLE_QUARTER_SHIFT) - 1));
		if (number >= t->entry_count)
			break;
	}
	return -BOBBIN_EBADMSG;
}

/* The block that has the row for an offset, by the entry of its cell; NULL: there is none. */
static BOBBIN_ALWAYS_INLINE const uint8_t *find_block(const struct compiled_table *t,
						      uint64_t entry, uint64_t offset,
						      struct table_steps *steps)
{
	const uint32_t within = (uint32_t)offset & ((1u << TABLE_CELL_SHIFT) - 1);
	const uint64_t starts = entry | (uint64_t)TABLE_NO_START << TABLE_ENTRY_BLOCK;
	const uint8_t *block;
	unsigned int k = 0;
	uint64_t number;

	for (unsigned int i = 0; i < TABLE_ENTRY_STARTS; i++)
		k += within > (entry >> i * TABLE_START_BITS & TABLE_NO_START);
	number = (entry >> TABLE_ENTRY_BLOCK) + k;
	if (number >= t->block_count)
		return NULL;
	steps->limit = (uint32_t)(starts >> k * TABLE_START_BITS & TABLE_NO_START) + 1 - within;
	block = table_piece(t, t->blocks + number * TABLE_BLOCK_SIZE, TABLE_BLOCK_SIZE);
	if (!MEMORY_IS_OURS && !block)
		return NULL;
	steps->wanted = ((uint32_t)offset - load_u16(block, false)) & 0x7fff;
	steps->limit += steps->wanted;
	return block;
}

/* A mask of the highest @count bytes of a word. */
static BOBBIN_ALWAYS_INLINE uint64_t highest_8(uint32_t count)
{
	return ~(~0ull >> 8 * count);
}

/* A mask of all bits if @so, or of none. */
static BOBBIN_ALWAYS_INLINE uint32_t all_if(bool so)
{
	return 0 - (uint32_t)so;
}

/* The start of part @number, which is not the first one, from the block's start on. */
static BOBBIN_ALWAYS_INLINE uint32_t part_start(const uint8_t *block, uint32_t number)
{
	return load_u16(block + index_below(TABLE_BLOCK_SIZE - 2 * number, TABLE_BLOCK_SIZE - 1),
			false);
}

/* The tokens of the part that has the wanted row. @last: the number of the block's last part. */
static BOBBIN_ALWAYS_INLINE const uint8_t *find_part(const uint8_t *block, uint32_t last,
						     struct table_steps *steps)
{
	const uint8_t *end = block + TABLE_BLOCK_SIZE;
	uint64_t begun = at_most(load_u64(end - 16, false), steps->wanted), counts, before;
	uint32_t k, first, at = TABLE_BLOCK_SIZE - 8 - 2 * last;

	begun &= highest_8(2 * (last % 4));
	k = sum_16(begun + at_most(load_u64(end - 8, false), steps->wanted));
	steps->start = part_start(block, k + !k) & all_if(k);
	steps->end = part_start(block, k + 1) | all_if(k == last);
	counts = load_u64(block + index_below(at, TABLE_BLOCK_SIZE - 7), false);
	before = counts & highest_8(k);
	steps->rows = (uint32_t)(counts >> (56 - 8 * k) & 7) + 1;
	steps->listed = sum_8(before >> 3 & 15 * EACH_8);
	first = TABLE_BLOCK_TOKENS + k + sum_8(before & 7 * EACH_8);
	first = first < TABLE_BLOCK_SIZE - 8 ? first : TABLE_BLOCK_SIZE - 8;
	return block + index_below(first, TABLE_BLOCK_SIZE - 7);
}

/* Compute where the rows of a part start. */
static BOBBIN_ALWAYS_INLINE void find_starts(const uint8_t *distances, const uint8_t *tokens,
					     struct table_steps *steps)
{
	uint64_t first = (uint64_t)distances[tokens[1]] << 16, last;

	first |= (uint64_t)distances[tokens[2]] << 32;
	first |= (uint64_t)distances[tokens[3]] << 48;
	steps->first = first = times_each_16(first);
	last = distances[tokens[4]] + (first >> 48);
	last |= (uint64_t)distances[tokens[5]] << 16;
	last |= (uint64_t)distances[tokens[6]] << 32;
	last |= (uint64_t)distances[tokens[7]] << 48;
	steps->last = times_each_16(last);
}

/* The index of the wanted row in its part. What is decoded beyond the last row starts later. */
static BOBBIN_ALWAYS_INLINE uint32_t find_row(const struct table_steps *steps)
{
	const uint32_t wanted = (steps->wanted - steps->start) & 0x7fff;
	uint32_t begun = sum_16(at_most(steps->first, wanted) + at_most(steps->last, wanted));

	return (begun < steps->rows ? begun : steps->rows) - 1;
}

/* The rule at an index of the block's list. */
static BOBBIN_ALWAYS_INLINE uint32_t listed_rule(const uint8_t *block, uint32_t flags,
						 uint32_t number)
{
	const unsigned int wide = flags >> 7;
	uint32_t at = TABLE_BLOCK_SIZE - 3 - 3 * (flags & 7) - (number << wide);

	at = at < TABLE_BLOCK_SIZE - 2 ? at : TABLE_BLOCK_SIZE - 2;
	return load_u16(block + index_below(at, TABLE_BLOCK_SIZE - 1), false) >> 8 * (1 - wide);
}

/* The number of the rule of a row; @tokens: those of its part. */
static BOBBIN_ALWAYS_INLINE uint32_t rule_number(const uint8_t *pairs, const uint8_t *block,
						 uint32_t listed, uint64_t tokens, uint32_t row)
{
	const uint32_t token = tokens >> 8 * row & 0xff;
	const uint64_t before = tokens & ((1ull << 8 * row) - 1);
	uint32_t pair = pairs[TABLE_DISTANCES_SIZE + token % TABLE_FIRST_PLAIN];

	listed += sum_8(before >> 7 & EACH_8);
	listed = listed_rule(block, block[TABLE_BLOCK_FLAGS], listed);
	return pair ^ ((pair ^ listed) & all_if(token >> 7));
}

static BOBBIN_ALWAYS_INLINE uint32_t lower(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The row of a block; @start is the address where the block starts. */
static BOBBIN_ALWAYS_INLINE void read_row(const uint8_t *pairs, const uint8_t *block,
					  uint64_t start, struct table_steps *steps,
					  struct compiled_row *ret)
{
	const uint8_t *part = find_part(block, block[TABLE_BLOCK_FLAGS] & 7, steps);
	uint32_t row, from, end;
	uint64_t tokens;

	TABLE_STEP();
	find_starts(pairs, part, steps);
	TABLE_STEP();
	row = find_row(steps);
	tokens = load_u64(part, false);
	ret->number = rule_number(pairs, block, steps->listed, tokens, row);
	from = (row < 4 ? steps->first : steps->last) >> row % 4 * 16 & 0xffff;
	from += steps->start;
	end = from + pairs[tokens >> 8 * row >> 8 & 0xff];
	end = lower(end | all_if(row + 1 >= steps->rows), lower(steps->end, steps->limit));
	ret->start = start + from;
	ret->end = start + end;
}

/* As compiled_table_find(), but for @ret->begins, which is not set. */
static BOBBIN_ALWAYS_INLINE int table_find(const struct compiled_table *table, uint64_t vaddr,
					   struct table_steps *steps, struct compiled_row *ret)
{
	const uint64_t offset = vaddr - table->start;
	const uint8_t *pairs, *word, *block;
	uint64_t entry;

	if (offset >= table->end - table->start)
		return -BOBBIN_ENOENT;
	if (find_entry(table, offset, &entry))
		return -BOBBIN_EBADMSG;
	block = find_block(table, entry, offset, steps);
	if (!block)
		return -BOBBIN_EBADMSG;
	pairs = table_pairs(table);
	if (!MEMORY_IS_OURS && !pairs)
		return -BOBBIN_EBADMSG;
	read_row(pairs, block, vaddr - steps->wanted, steps, ret);
	ret->word = 0;
	if (ret->number >= table->word_count)
		return ret->number < table->word_count + table->wide_count ? 0 : -BOBBIN_EBADMSG;
	word = table_piece(table, table->words + (uint64_t)ret->number * TABLE_WORD_SIZE,
			   TABLE_WORD_SIZE);
	if (!MEMORY_IS_OURS && !word)
		return -BOBBIN_EBADMSG;
	ret->word = load_u64(word, false);
	return ret->word ? 0 : -BOBBIN_ENOENT;
}

#endif
