/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything here follows docs/compiled-table.md, section by section, one byte after the other. */
#include "second_reader.h"

#include <string.h>

/* Head */

static uint64_t number(const uint8_t *at, unsigned int bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | at[bytes];
	return n;
}

static bool is_known_machine(const uint8_t *head)
{
	uint64_t machine = number(head + 12, 2);

	return (machine == 62 && !head[14]) || machine == 183 || (machine == 22 && head[14]);
}

static uint64_t next_64(uint64_t at)
{
	return (at + 63) / 64 * 64;
}

bool second_open(const uint8_t *bytes, uint64_t size, struct second_table *ret)
{
	struct second_table t = {.bytes = bytes, .size = size};

	if (size < 128 || memcmp(bytes, "bobbinCT", 8) || number(bytes + 8, 4) != 2)
		return false;
	t.cells = number(bytes + 36, 4);
	t.start = number(bytes + 40, 8);
	t.end = number(bytes + 48, 8);
	t.entries = number(bytes + 56, 4);
	t.blocks = number(bytes + 60, 4);
	t.words = number(bytes + 64, 4);
	t.wide = number(bytes + 68, 4);
	if (!is_known_machine(bytes) || bytes[15] > 20)
		return false;
	if (t.end <= t.start || t.end - t.start > 2048 * t.cells || t.cells > t.entries)
		return false;
	if (t.words >= 65535 || t.wide >= 65535 || t.words + t.wide > 65535)
		return false;
	t.words_at = 512;
	t.wide_at = t.words_at + 8 * t.words;
	t.beginners_at = t.wide_at + 32 * t.wide;
	t.index_at = next_64(t.beginners_at + (t.words + t.wide + 7) / 8);
	t.blocks_at = next_64(t.index_at + 8 * t.entries);
	if (t.blocks_at + 64 * t.blocks > size)
		return false;
	*ret = t;
	return true;
}

/* Index */

static bool is_split(uint64_t entry)
{
	return entry >> 63;
}

static uint64_t entry_at(const struct second_table *t, uint64_t index)
{
	return number(t->bytes + t->index_at + 8 * index, 8);
}

static bool find_leaf(const struct second_table *t, uint64_t offset, uint64_t *ret)
{
	uint64_t entry = entry_at(t, offset / 2048);

	for (int shift = 9; shift >= 5 && is_split(entry); shift -= 2) {
		uint64_t next = (entry & ~(1ull << 63)) + (offset >> shift) % 4;

		if (next >= t->entries)
			return false;
		entry = entry_at(t, next);
	}
	*ret = entry;
	return !is_split(entry);
}

/* Where the block is; @limit: bytes from the address on for which it counts at most. */
static const uint8_t *find_block(const struct second_table *t, uint64_t offset, uint64_t *limit)
{
	uint64_t leaf, block, within = offset % 2048;
	unsigned int k = 0;

	if (!find_leaf(t, offset, &leaf))
		return NULL;
	for (unsigned int i = 0; i < 4; i++)
		k += (leaf >> 11 * i & 0x7ff) < within;
	*limit = (k < 4 ? (leaf >> 11 * k & 0x7ff) + 1 : 2048) - within;
	block = (leaf >> 44 & 0x7ffff) + k;
	return block < t->blocks ? t->bytes + t->blocks_at + 64 * block : NULL;
}

/* Blocks; what is outside of a block reads as 0 */

static unsigned int block_byte(const uint8_t *block, int at)
{
	return at >= 0 && at < 64 ? block[at] : 0;
}

static unsigned int block_u16(const uint8_t *block, int at)
{
	return block_byte(block, at) | block_byte(block, at + 1) << 8;
}

static unsigned int part_start(const uint8_t *block, int part)
{
	return part ? block_u16(block, 64 - 2 * part) : 0;
}

static unsigned int part_counts(const uint8_t *block, int last, int part)
{
	return block_byte(block, 63 - 2 * last - part);
}

static unsigned int listed(const uint8_t *block, int last, int n)
{
	if (block[2] >> 7)
		return block_u16(block, 61 - 3 * last - 2 * n);
	return block_byte(block, 62 - 3 * last - n);
}

/* A row in its block: from where to where, from the block's start on, and its rule. */
struct block_row {
	uint64_t start, end;
	unsigned int rule;
};

static void read_part(const uint8_t *bytes, const uint8_t *block, int part, unsigned int wanted,
		      struct block_row *ret)
{
	const uint8_t *distances = bytes + 128, *pair_rules = bytes + 384;
	const int last = block[2] % 8;
	unsigned int rows = part_counts(block, last, part) % 8 + 1, token;
	int at = 3, n = 0;

	for (int i = 0; i < part; i++) {
		at += (int)(part_counts(block, last, i) % 8) + 1;
		n += part_counts(block, last, i) >> 3 & 15;
	}
	ret->start = part_start(block, part);
	token = block_byte(block, at);
	for (; rows > 1; rows--) {
		unsigned int next = block_byte(block, at + 1);

		if (ret->start + distances[next] > wanted)
			break;
		ret->start += distances[next];
		n += token >= 128;
		token = next;
		at++;
	}
	ret->end = UINT64_MAX;
	if (rows > 1)
		ret->end = ret->start + distances[block_byte(block, at + 1)];
	else if (part < last)
		ret->end = part_start(block, part + 1);
	ret->rule = token < 128 ? pair_rules[token] : listed(block, last, n);
}

static void read_block(const uint8_t *bytes, const uint8_t *block, unsigned int wanted,
		       struct block_row *ret)
{
	const int last = block[2] % 8;
	int part = 0;

	for (int p = 1; p <= last; p++)
		if (part_start(block, p) <= wanted)
			part = p;
	read_part(bytes, block, part, wanted, ret);
}

/* Words */

static unsigned int bits(uint64_t word, unsigned int from, unsigned int to)
{
	return (unsigned int)(word >> from & ((1ull << (to - from + 1)) - 1));
}

static int64_t signed_bits(uint64_t word, unsigned int from, unsigned int to)
{
	return (int64_t)(word << (63 - to)) >> (63 - to + from);
}

static struct second_place place(enum second_how how, unsigned int reg, int64_t offset)
{
	return (struct second_place){how, reg, offset};
}

static void word_cfa(uint64_t word, struct second_row *ret)
{
	unsigned int reg = bits(word, 2, 6);

	switch (bits(word, 0, 1)) {
	case 1:
		ret->cfa = place(SECOND_REGISTER_PLUS, reg, 8 * signed_bits(word, 16, 35));
		return;
	case 2:
		ret->cfa = place(SECOND_WORD_AT_REGISTER, reg, 8 * signed_bits(word, 24, 35));
		break;
	default:
		ret->cfa = place(SECOND_WORD_AT_REGISTER, reg, 8 * signed_bits(word, 29, 35));
		ret->index = (int)bits(word, 24, 28);
	}
	ret->plus = 8 * signed_bits(word, 16, 23);
}

static struct second_place word_fp(uint64_t word)
{
	switch (bits(word, 13, 15)) {
	case 1:
		return place(SECOND_WORD_AT_CFA, 0, 8 * signed_bits(word, 48, 63));
	case 2:
		return place(SECOND_CFA_PLUS, 0, 8 * signed_bits(word, 48, 63));
	case 3:
		return place(SECOND_REGISTER_PLUS, bits(word, 48, 52),
			     8 * signed_bits(word, 53, 63));
	case 4:
		return place(SECOND_WORD_AT_REGISTER, bits(word, 48, 52),
			     8 * signed_bits(word, 53, 63));
	default:
		return place(SECOND_SAME, 0, 0);
	}
}

static struct second_place word_ra(uint64_t word)
{
	switch (bits(word, 10, 12)) {
	case 0:
		return place(SECOND_SAME, 0, 0);
	case 2:
	case 7:
		return place(SECOND_WORD_AT_CFA, 0, 8 * signed_bits(word, 36, 47));
	case 3:
		return place(SECOND_REGISTER_PLUS, bits(word, 36, 40),
			     8 * signed_bits(word, 41, 47));
	case 4:
		return place(SECOND_WORD_AT_REGISTER, bits(word, 36, 40),
			     8 * signed_bits(word, 41, 47));
	case 5:
		return place(SECOND_WORD_AT_CFA, 0, 8 * signed_bits(word, 48, 63) + 8);
	case 6:
		return place(SECOND_PC_PLUS, 0, signed_bits(word, 36, 63));
	default:
		return place(SECOND_NOWHERE, 0, 0);
	}
}

static enum second_answer read_word(uint64_t word, struct second_row *ret)
{
	if (!word)
		return SECOND_UNKNOWN;
	if (!bits(word, 0, 1)) {
		ret->reason = bits(word, 2, 9);
		return SECOND_NO_RULE;
	}
	word_cfa(word, ret);
	ret->ra = word_ra(word);
	ret->fp = word_fp(word);
	ret->flags = bits(word, 7, 9) | (bits(word, 10, 12) == 7 ? 8 : 0);
	return SECOND_FOUND;
}

/* Wide rules */

/* @kinds: a bit for each "how" that may be. */
static bool wide_place(const uint8_t *at, unsigned int kinds, struct second_place *ret)
{
	*ret = place(at[4], at[5], (int32_t)number(at, 4));
	return at[4] <= SECOND_PC_PLUS && kinds >> at[4] & 1 && at[5] < 32;
}

static enum second_answer read_wide(const uint8_t *at, struct second_row *ret)
{
	bool good = wide_place(at, 1 << SECOND_REGISTER_PLUS | 1 << SECOND_WORD_AT_REGISTER,
			       &ret->cfa);

	good &= wide_place(at + 6, 0xff & ~(1 << SECOND_CFA_PLUS | 1), &ret->ra);
	good &= wide_place(at + 12, 0x7f & ~(1 << SECOND_NOWHERE | 1), &ret->fp);
	ret->plus = (int16_t)number(at + 18, 2);
	ret->index = at[20] == 0xff ? -1 : at[20];
	ret->flags = at[21];
	return good && ret->index < 32 ? SECOND_FOUND : SECOND_MALFORMED;
}

/* The lookup */

static enum second_answer read_rule(const struct second_table *t, unsigned int rule,
				    struct second_row *ret)
{
	ret->begins = t->bytes[t->beginners_at + rule / 8] >> rule % 8 & 1;
	if (rule < t->words)
		return read_word(number(t->bytes + t->words_at + 8ull * rule, 8), ret);
	return read_wide(t->bytes + t->wide_at + 32 * (rule - t->words), ret);
}

enum second_answer second_lookup(const struct second_table *t, uint64_t address,
				 struct second_row *ret)
{
	struct second_row row = {.index = -1};
	struct block_row in_block;
	uint64_t offset = address - t->start, limit;
	const uint8_t *block;
	unsigned int wanted;

	if (offset >= t->end - t->start)
		return SECOND_UNKNOWN;
	block = find_block(t, offset, &limit);
	if (!block)
		return SECOND_MALFORMED;
	wanted = (unsigned int)((offset - block_u16(block, 0)) % 0x8000);
	read_block(t->bytes, block, wanted, &in_block);
	limit += wanted;
	if (in_block.end > limit)
		in_block.end = limit;
	if (in_block.start > wanted || in_block.end <= wanted ||
	    in_block.rule >= t->words + t->wide)
		return SECOND_MALFORMED;
	row.start = address - wanted + in_block.start;
	row.end = address - wanted + in_block.end;
	*ret = row;
	return read_rule(t, in_block.rule, ret);
}
