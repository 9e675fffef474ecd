/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_blocks.h"

#include <errno.h>

#include "core/bytes.h"

/* Distances of pairs: they are in a byte. */
#define PAIR_LIMIT 256u
/* Rules of pairs: others are too rare. */
#define PAIR_RULES 64u

/* Instead of a token of a pair: there is none. */
#define NO_PAIR TABLE_FIRST_PLAIN

/* Bytes of a part beside its rows: where it starts, and its counts. */
#define PART_BYTES 3

/* Bytes that a pair saves: that of the rule, or those of a part. */
#define RULE_GAIN 1u
#define PART_GAIN 3u

/**
 * struct table_pairs - the commonest pairs of a distance and a rule, each of which is a token
 * @bytes: what they are, as the table has it
 * @tokens: of pairs, by number and distance
 * @rule_tokens: of any pair with a rule, by number
 */
struct table_pairs {
	uint8_t *bytes;
	uint8_t tokens[PAIR_RULES][PAIR_LIMIT];
	uint8_t rule_tokens[PAIR_RULES];
};

struct counted_pair {
	uint64_t gain;
	uint32_t number, distance;
};

static int by_gain(const void *a, const void *b)
{
	const struct counted_pair *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static void count_pairs(const struct table_rules *rules, struct counted_pair *pairs)
{
	const struct rule_rows *rows = rules->rows;

	for (size_t i = 1; i < rows->count; i++) {
		uint64_t distance = rows->row[i].start - rows->row[i - 1].start;
		uint32_t number = table_rules_number(rules, &rows->row[i]);

		if (distance < PAIR_LIMIT && number < PAIR_RULES)
			pairs[number * PAIR_LIMIT + distance].gain += distance > TABLE_PLAIN_MAX
									      ? PART_GAIN
									      : RULE_GAIN;
	}
}

/* Those that are used, the best ones first; how many. */
static size_t rank_pairs(struct counted_pair *pairs)
{
	size_t used = 0;

	for (uint32_t i = 0; i < PAIR_RULES * PAIR_LIMIT; i++)
		if (pairs[i].gain)
			pairs[used++] = (struct counted_pair){pairs[i].gain, i / PAIR_LIMIT,
							      i % PAIR_LIMIT};
	qsort(pairs, used, sizeof(*pairs), by_gain);
	return used;
}

static void name_pair(struct table_pairs *to, const struct counted_pair *pair, uint8_t token)
{
	to->bytes[token] = (uint8_t)pair->distance;
	to->bytes[TABLE_DISTANCES_SIZE + token] = (uint8_t)pair->number;
	to->tokens[pair->number][pair->distance] = token;
	to->rule_tokens[pair->number] = token;
}

/* 0, -ENOMEM. */
static int choose_pairs(const struct table_rules *rules, struct table_pairs *ret)
{
	struct counted_pair *pairs = calloc(PAIR_RULES * PAIR_LIMIT, sizeof(*pairs));
	size_t used;

	if (!pairs)
		return -ENOMEM;
	memset(ret->tokens, NO_PAIR, sizeof(ret->tokens));
	memset(ret->rule_tokens, NO_PAIR, sizeof(ret->rule_tokens));
	for (unsigned int i = 0; i < TABLE_PLAIN_MAX; i++)
		ret->bytes[TABLE_FIRST_PLAIN + i] = (uint8_t)(i + 1);
	count_pairs(rules, pairs);
	used = rank_pairs(pairs);
	for (size_t i = 0; i < used && i < TABLE_FIRST_PLAIN; i++)
		name_pair(ret, &pairs[i], (uint8_t)i);
	free(pairs);
	return 0;
}

/* The token of a row at a distance from the one before, or NO_PAIR. */
static uint8_t pair_token(const struct table_pairs *pairs, uint64_t distance, uint32_t number)
{
	return distance < PAIR_LIMIT && number < PAIR_RULES ? pairs->tokens[number][distance]
							    : NO_PAIR;
}

/* The token of a row that stands where something else says, or NO_PAIR. */
static uint8_t rule_token(const struct table_pairs *pairs, uint32_t number)
{
	return number < PAIR_RULES ? pairs->rule_tokens[number] : NO_PAIR;
}

struct part_draft {
	uint16_t start;
	uint8_t rows, listed;
};

/**
 * struct block_draft - a block that is not full yet
 * @start: from the table's start on
 * @last: its last row, the same
 * @parts, @part_count: its parts; 0: there is no block
 * @tokens, @token_count: of all parts
 * @list, @list_count: rules that are not those of pairs
 * @wide: there are some that do not fit in a byte
 */
struct block_draft {
	uint64_t start, last;
	struct part_draft parts[TABLE_MOST_PARTS];
	uint8_t tokens[TABLE_BLOCK_SIZE];
	uint16_t list[TABLE_BLOCK_SIZE];
	unsigned int part_count, token_count, list_count;
	bool wide;
};

struct block_writer {
	const struct table_pairs *pairs;
	struct table_blocks *blocks;
	uint64_t limit;
	struct block_draft draft;
};

static unsigned int written_parts(unsigned int count)
{
	return count < TABLE_LEAST_PARTS ? TABLE_LEAST_PARTS : count;
}

static bool has_room(unsigned int parts, unsigned int tokens, unsigned int list_bytes)
{
	/* the first part starts where the block does */
	unsigned int part_bytes = PART_BYTES * written_parts(parts) - 2;

	return TABLE_BLOCK_TOKENS + tokens + list_bytes + part_bytes <= TABLE_BLOCK_SIZE;
}

static struct part_draft *last_part(struct block_draft *d)
{
	return &d->parts[d->part_count - 1];
}

/* The token of a row that goes on with the last part; false: it cannot. */
static bool next_token(const struct table_pairs *pairs, struct block_draft *d, uint64_t at,
		       uint32_t number, uint8_t *ret)
{
	const uint64_t distance = at - d->last;

	if (!d->part_count || last_part(d)->rows == TABLE_PART_TOKENS)
		return false;
	*ret = pair_token(pairs, distance, number);
	if (*ret == NO_PAIR && distance <= TABLE_PLAIN_MAX)
		*ret = (uint8_t)(TABLE_FIRST_PLAIN + distance - 1);
	else if (*ret == NO_PAIR)
		return false;
	return true;
}

/* A row at the end of a block; false: there is no room for it. */
static bool put_row(const struct table_pairs *pairs, struct block_draft *d, uint64_t at,
		    uint32_t number)
{
	uint8_t token;
	bool goes_on = next_token(pairs, d, at, number, &token), listed, wide;
	unsigned int parts = d->part_count + !goes_on;

	if (!goes_on)
		token = rule_token(pairs, number);
	listed = token >= TABLE_FIRST_PLAIN;
	wide = d->wide || (listed && number >= TABLE_BYTE_RULES);
	if (parts > TABLE_MOST_PARTS || at - d->start > TABLE_BLOCK_REACH ||
	    !has_room(parts, d->token_count + 1, (d->list_count + listed) << wide))
		return false;
	if (!goes_on)
		d->parts[d->part_count++] = (struct part_draft){.start = (uint16_t)(at - d->start)};
	d->last = at;
	d->wide = wide;
	d->tokens[d->token_count++] = token;
	if (listed)
		d->list[d->list_count++] = (uint16_t)number;
	last_part(d)->rows++;
	last_part(d)->listed += listed;
	return true;
}

/* What is at the end of a block, backward. */
static void write_parts(const struct block_draft *d, uint8_t *end)
{
	unsigned int count = written_parts(d->part_count);

	for (unsigned int i = 1; i < count; i++)
		bytes_store(end -= 2, i < d->part_count ? d->parts[i].start : TABLE_NO_PART, 2,
			    false);
	for (unsigned int i = 0; i < count; i++) {
		const struct part_draft *p = &d->parts[i];

		*--end = i < d->part_count ? (uint8_t)((p->rows - 1) | p->listed << 3) : 0;
	}
	for (unsigned int i = 0; i < d->list_count; i++) {
		end -= 1 + d->wide;
		bytes_store(end, d->list[i], 1 + d->wide, false);
	}
}

static int write_block(struct block_writer *w)
{
	const struct block_draft *d = &w->draft;
	struct table_blocks *to = w->blocks;
	uint8_t block[TABLE_BLOCK_SIZE] = {0};

	if (to->count == TABLE_MAX_BLOCKS)
		return -ERANGE;
	if (w->limit && to->bytes.size >= w->limit)
		return -E2BIG;
	bytes_store(block, d->start & 0x7fff, 2, false);
	block[TABLE_BLOCK_FLAGS] = (uint8_t)((written_parts(d->part_count) - 1) |
					     (d->wide ? TABLE_BLOCK_WIDE : 0));
	memcpy(block + TABLE_BLOCK_TOKENS, d->tokens, d->token_count);
	write_parts(d, block + sizeof(block));
	byte_buffer_put(&to->bytes, block, sizeof(block));
	if (vector_reserve(&to->starts, &to->capacity, to->count + 1, sizeof(*to->starts)))
		return -ENOMEM;
	to->starts[to->count++] = d->start;
	return 0;
}

/* A row, in the block at hand or in a new one. */
static int put(struct block_writer *w, uint64_t at, uint32_t number)
{
	struct block_draft *d = &w->draft;
	int r = 0;

	if (put_row(w->pairs, d, at, number))
		return 0;
	if (d->part_count)
		r = write_block(w);
	d->start = at;
	d->part_count = d->token_count = d->list_count = 0;
	d->wide = false;
	put_row(w->pairs, d, at, number);
	return r;
}

/* What holds from @at to @end: the same again where it is more than a block reaches. */
static int put_long(struct block_writer *w, uint64_t at, uint64_t end, uint32_t number,
		    uint32_t again)
{
	int r = put(w, at, number);

	while (!r && end - w->draft.start > TABLE_BLOCK_REACH + 1)
		r = put(w, w->draft.start + TABLE_BLOCK_REACH + 1, again);
	return r;
}

/* All rows, and after them that nothing is known. */
static int put_rows(struct block_writer *w, const struct table_rules *rules, uint64_t start,
		    uint64_t end_of_rows)
{
	const uint32_t none = rules->rules[RULE_NONE].numbers[false];
	const struct rule_row *row = rules->rows->row, *last = row + rules->rows->count - 1;
	uint64_t at = row->start - start, end;
	int r = at ? put_long(w, 0, at, none, none) : 0;

	for (; row <= last && !r; row++, at = end) {
		end = (row < last ? row[1].start : end_of_rows) - start;
		r = put_long(w, at, end, table_rules_number(rules, row),
			     rules->rules[row->rule].numbers[false]);
	}
	if (!r)
		r = put(w, at, none);
	return r ? r : write_block(w);
}

int table_blocks_make(const struct table_rules *rules, uint64_t start, uint64_t end, uint64_t limit,
		      struct table_blocks *ret)
{
	struct table_pairs pairs;
	struct block_writer w = {.pairs = &pairs, .blocks = ret, .limit = limit};
	int r;

	pairs.bytes = ret->pairs;
	r = choose_pairs(rules, &pairs);
	if (!r)
		r = put_rows(&w, rules, start, end);
	return !r && ret->bytes.failed ? -ENOMEM : r;
}

void table_blocks_fini(struct table_blocks *blocks)
{
	byte_buffer_fini(&blocks->bytes);
	free(blocks->starts);
	*blocks = (struct table_blocks){0};
}
