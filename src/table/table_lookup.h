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
 * struct place - where in a table the row of an address is
 * @part: the part of a block
 * @address: of the chunk
 * @start, @end: text of the part, from there on
 * @wanted: what is looked up, from there on
 * @tokens: of the part
 */
struct place {
	const uint8_t *part;
	uint64_t address;
	uint32_t start, end, wanted, tokens;
};

#define EACH_16 0x0001000100010001ull

/* Of the four 16-bit numbers in a word that are at most @wanted, ones; all are below 2^15. */
static BOBBIN_ALWAYS_INLINE uint64_t at_most(uint64_t numbers, uint32_t wanted)
{
	return ((wanted | 0x8000) * EACH_16 - numbers) >> 15 & EACH_16;
}

static BOBBIN_ALWAYS_INLINE uint32_t sum_16(uint64_t counts)
{
	return (uint32_t)(counts * EACH_16 >> 48);
}

/* How many blocks of a line start after its first one, and at or before an offset. */
static BOBBIN_ALWAYS_INLINE uint32_t blocks_before(const uint8_t *line, uint32_t wanted)
{
	/* the first two numbers are that of a block */
	uint64_t counts = at_most(load_u64(line, false) | TABLE_NO_START * 0x10001ull, wanted);

	counts += at_most(load_u64(line + 8, false), wanted);
	counts += at_most(load_u64(line + 16, false), wanted);
	counts += at_most(load_u64(line + 24, false), wanted);
	return sum_16(counts);
}

/* The block in which a line has an offset, @size bytes being the line's. */
static BOBBIN_ALWAYS_INLINE int find_block(const struct compiled_table *t, const uint8_t *line,
					   uint32_t size, struct place *place)
{
	uint32_t first = load_u32(line, false), k = blocks_before(line, place->wanted);
	uint64_t number;

	if (first & TABLE_LINE_SPLIT || k >= TABLE_LINE_BLOCKS || t->block_count <= k ||
	    first >= t->block_count - k)
		return -BOBBIN_EBADMSG;
	place->part = table_piece(t, t->blocks + (uint64_t)(first + k) * TABLE_BLOCK_SIZE,
				  TABLE_BLOCK_SIZE);
	if (!MEMORY_IS_OURS && !place->part)
		return -BOBBIN_EBADMSG;
	number = index_below(k, TABLE_LINE_BLOCKS);
	place->start = k ? load_u16(line + 2 + 2 * number, false) : 0;
	place->end = size;
	if (k + 1 < TABLE_LINE_BLOCKS)
		place->end = load_u16(line + 4 + 2 * index_below(k, TABLE_LINE_BLOCKS - 1), false);
	if (place->end > size)
		place->end = size;
	return 0;
}

/* The part of the block. */
static BOBBIN_ALWAYS_INLINE void find_part(struct place *place)
{
	const uint8_t *block = place->part;
	uint64_t head = load_u64(block, false);
	uint64_t starts = (head & 0xffffffffffff) | (uint64_t)TABLE_NO_START << 48;
	uint32_t k = sum_16(at_most(starts, place->wanted)) % TABLE_BLOCK_PARTS, end;

	if (k)
		place->start = starts >> 16 * (k - 1) & 0xffff;
	end = starts >> 16 * k & 0xffff;
	if (end < place->end)
		place->end = end;
	place->tokens = head >> (48 + 4 * k) & 15;
	place->part = block + TABLE_BLOCK_HEAD +
		      index_below(k, TABLE_BLOCK_PARTS) * TABLE_PART_SIZE;
}

static BOBBIN_ALWAYS_INLINE const uint8_t *line_at(const struct compiled_table *t, uint32_t number)
{
	return table_piece(t, t->lines + (uint64_t)number * TABLE_LINE_SIZE, TABLE_LINE_SIZE);
}

static BOBBIN_ALWAYS_INLINE int find_place(const struct compiled_table *t, uint64_t offset,
					   struct place *ret)
{
	unsigned int shift = TABLE_CHUNK_SHIFT;
	uint32_t number = (uint32_t)(offset >> shift), first;
	const uint8_t *line = line_at(t, number);
	int r;

	if (!MEMORY_IS_OURS && !line)
		return -BOBBIN_EBADMSG;
	for (unsigned int level = 1; level < TABLE_LEVELS; level++) {
		first = load_u32(line, false);
		if (!(first & TABLE_LINE_SPLIT))
			break;
		shift -= TABLE_QUARTER_SHIFT;
		number = (first & ~TABLE_LINE_SPLIT) +
			 (offset >> shift & ((1u << TABLE_QUARTER_SHIFT) - 1));
		if (number >= t->line_count)
			return -BOBBIN_EBADMSG;
		line = line_at(t, number);
		if (!MEMORY_IS_OURS && !line)
			return -BOBBIN_EBADMSG;
	}
	ret->wanted = (uint32_t)(offset & ((1u << shift) - 1));
	ret->address = t->start + (offset - ret->wanted);
	r = find_block(t, line, 1u << shift, ret);
	if (!r)
		find_part(ret);
	return r;
}

/* Where the tokens of a part end, from its start: of each four, in the 16 bits of a word. */
struct token_ends {
	uint64_t words[TABLE_PART_TOKENS / 4];
};

static BOBBIN_ALWAYS_INLINE uint32_t end_of(const struct token_ends *ends, uint32_t token)
{
	return (uint32_t)(ends->words[index_below(token / 4, TABLE_PART_TOKENS / 4)] >>
			  token % 4 * 16) &
	       0xffff;
}

/* The 16-bit numbers of a word that come before the @count-th. */
static BOBBIN_ALWAYS_INLINE uint64_t first_16(int32_t count)
{
	const unsigned int n = count < 0 ? 0 : count > 4 ? 4 : (unsigned int)count;

	return (1ull << 8 * n << 8 * n) - 1;
}

/* Where four tokens end, from the end of those before. */
static BOBBIN_ALWAYS_INLINE uint64_t sum_distances(const uint8_t *distances, const uint8_t *tokens,
						   uint64_t before)
{
	uint64_t four = (uint64_t)load_u16(distances + 2 * tokens[0], false) + before;

	four |= (uint64_t)load_u16(distances + 2 * tokens[1], false) << 16;
	four |= (uint64_t)load_u16(distances + 2 * tokens[2], false) << 32;
	four |= (uint64_t)load_u16(distances + 2 * tokens[3], false) << 48;
	return four * EACH_16;
}

/*
 * How many tokens start at or before an offset.  What is read as tokens after the last one
 * makes numbers in higher places only, which are not counted.
 */
static BOBBIN_ALWAYS_INLINE uint32_t count_tokens(const uint8_t *distances, const uint8_t *tokens,
						  int32_t count, uint32_t wanted,
						  struct token_ends *ends)
{
	uint64_t hits, *e = ends->words;

	e[0] = sum_distances(distances, tokens, 0);
	e[1] = sum_distances(distances, tokens + 4, e[0] >> 48);
	e[2] = sum_distances(distances, tokens + 8, e[1] >> 48);
	hits = at_most(e[0], wanted) & first_16(count);
	hits += at_most(e[1], wanted) & first_16(count - 4);
	hits += at_most(e[2], wanted) & first_16(count - 8);
	return sum_16(hits);
}

/* How many of the first @count tokens, fewer than twelve, have rules at the part's end. */
static BOBBIN_ALWAYS_INLINE uint32_t count_plain(const uint8_t *tokens, uint32_t count)
{
	const uint64_t each = 0x0101010101010101;
	uint64_t first = load_u64(tokens, false) >> 7 & each;
	uint64_t last = load_u32(tokens + 8, false) >> 7 & each;

	first = count < 8 ? first & ((1ull << 8 * count) - 1) : first;
	last = count < 8 ? 0 : last & ((1ull << 8 * (count - 8)) - 1);
	return (uint32_t)((first + last) * each >> 56);
}

/* The rule of the row of a part that starts where @token tokens end. */
static BOBBIN_ALWAYS_INLINE uint32_t rule_number(const uint8_t *pairs, const uint8_t *part,
						 uint32_t token)
{
	uint32_t last, pair, plain, number;

	/* a row has at most two pieces more */
	token -= (part[index_below(token, TABLE_PART_SIZE)] < TABLE_FIRST_PAIR) & (token > 0);
	token -= (part[index_below(token, TABLE_PART_SIZE)] < TABLE_FIRST_PAIR) & (token > 0);
	last = part[index_below(token, TABLE_PART_SIZE)];
	pair = pairs[TABLE_DISTANCES_SIZE + last % TABLE_FIRST_PLAIN];
	plain = count_plain(part + 1, token - (token > 0));
	plain = part[index_below(TABLE_PART_SIZE - 1 - plain, TABLE_PART_SIZE)];
	number = last < TABLE_FIRST_PLAIN ? pair : plain;
	return token ? number : *part;
}

/* Find the wanted row of a part whose rules have large numbers. */
static BOBBIN_ALWAYS_INLINE void find_wide_row(const struct place *place, struct compiled_row *row)
{
	const uint8_t *p = place->part;
	uint32_t start = place->start, next = place->end, distance;

	row->number = load_u16(p, false);
	for (unsigned int i = 0; i < TABLE_WIDE_ROWS; i++) {
		p += 2;
		distance = load_u16(p, false);
		if (!distance)
			break;
		if (start + distance > place->wanted) {
			next = start + distance;
			break;
		}
		start += distance;
		p += 2;
		row->number = load_u16(p, false);
	}
	row->start = place->address + start;
	row->end = place->address + next;
}

/* Find the wanted row of a part. */
static BOBBIN_ALWAYS_INLINE void find_row(const uint8_t *pairs, const struct place *place,
					  struct compiled_row *row)
{
	struct token_ends ends;
	uint32_t token, end;

	row->begins = true;
	if (place->tokens > TABLE_PART_TOKENS) {
		find_wide_row(place, row);
		return;
	}
	token = count_tokens(pairs, place->part + 1, (int32_t)place->tokens,
			     place->wanted - place->start, &ends);
	row->number = rule_number(pairs, place->part, token);
	/* pieces of a row after its first one */
	row->begins = !token ||
		      place->part[index_below(token, TABLE_PART_SIZE)] >= TABLE_FIRST_PAIR;
	row->start = place->address + place->start + (token ? end_of(&ends, token - 1) : 0);
	end = token < place->tokens ? place->start + end_of(&ends, token) : place->end;
	row->end = place->address + end;
}

/*
 * As compiled_table_find(), but @ret->begins only tells whether @ret->start is that of a whole row.
 */
static BOBBIN_ALWAYS_INLINE int table_find(const struct compiled_table *table, uint64_t vaddr,
					   struct compiled_row *ret)
{
	const uint8_t *pairs, *word;
	struct place place;
	uint64_t limit;
	int r;

	if (vaddr < table->start || vaddr >= table->end)
		return -BOBBIN_ENOENT;
	r = find_place(table, vaddr - table->start, &place);
	if (r)
		return r;
	pairs = table_pairs(table);
	if (!MEMORY_IS_OURS && !pairs)
		return -BOBBIN_EBADMSG;
	find_row(pairs, &place, ret);
	limit = place.address + place.end < table->end ? place.address + place.end : table->end;
	if (ret->end > limit)
		ret->end = limit;
	if (ret->number >= table->word_count + table->wide_count)
		return -BOBBIN_EBADMSG;
	ret->word = 0;
	if (ret->number >= table->word_count)
		return 0;
	word = table_piece(table, table->words + (uint64_t)ret->number * TABLE_WORD_SIZE,
			   TABLE_WORD_SIZE);
	if (!MEMORY_IS_OURS && !word)
		return -BOBBIN_EBADMSG;
	ret->word = load_u64(word, false);
	return ret->word ? 0 : -BOBBIN_ENOENT;
}

#endif
