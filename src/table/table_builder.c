/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_builder.h"

#include <errno.h>

#include "base/byte_buffer.h"
#include "base/vector.h"
#include "core/bytes.h"
#include "table/table_rules.h"

/*
 * Rows become the pairs and the blocks of a table, and these an index: which block has the rows of
 * a cell of text.
 */

/**
 * struct table_blocks - the pairs and the blocks of a table
 * @pairs: the first part of the table
 * @bytes: the last part
 * @starts, @count: where they start, from the table's start on, ascending
 */
struct table_blocks {
	uint8_t pairs[TABLE_PAIRS_SIZE];
	struct byte_buffer bytes;
	uint64_t *starts;
	size_t count, capacity;
};

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
static void write_ends(const struct block_draft *d, uint8_t *end)
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
	write_ends(d, block + sizeof(block));
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

/*
 * Make blocks of rows, the last of which ends at @end, and of the addresses from @start up to the
 * first one.  @limit: bytes that they may have, 0: any number.  @ret is all zero before, and is
 * given to table_blocks_fini() in any case.  0; -ENOMEM; -E2BIG: the limit; -ERANGE: they are too
 * many for a table.
 */
static int table_blocks_make(const struct table_rules *rules, uint64_t start, uint64_t end,
			     uint64_t limit, struct table_blocks *ret)
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

static void table_blocks_fini(struct table_blocks *blocks)
{
	byte_buffer_fini(&blocks->bytes);
	free(blocks->starts);
	*blocks = (struct table_blocks){0};
}

/* Text that has an entry. */
struct index_cell {
	uint64_t start;
	unsigned int shift;
};

/**
 * struct index_writer - an index that is being written
 * @starts, @count: of the blocks
 * @cells: their number
 * @quarters, @quarter_count: of cells, and of their quarters, in the order of their entries
 * @at: the block that was the first of the last entry
 * @out: the entries
 */
struct index_writer {
	const uint64_t *starts;
	size_t count;
	uint64_t cells;
	struct index_cell *quarters;
	size_t quarter_count, capacity;
	size_t at;
	struct byte_buffer *out;
};

/* The block that has the first byte of text.  Most cells come in order. */
static size_t first_block(struct index_writer *w, uint64_t start)
{
	if (w->starts[w->at] > start)
		w->at = 0;
	while (w->at + 1 < w->count && w->starts[w->at + 1] <= start)
		w->at++;
	return w->at;
}

static int split(struct index_writer *w, const struct index_cell *cell)
{
	const unsigned int shift = cell->shift - TABLE_QUARTER_SHIFT;
	const unsigned int quarters = 1u << TABLE_QUARTER_SHIFT;

	if (vector_reserve(&w->quarters, &w->capacity, w->quarter_count + quarters,
			   sizeof(*w->quarters)))
		return -ENOMEM;
	for (uint64_t i = 0; i < quarters; i++)
		w->quarters[w->quarter_count++] = (struct index_cell){cell->start + (i << shift),
								      shift};
	return 0;
}

/* Where the next blocks start in a cell, as far as an entry holds them. */
static uint64_t next_starts(const struct index_writer *w, size_t first, uint64_t cell)
{
	uint64_t starts = 0;

	for (unsigned int i = 0; i < TABLE_ENTRY_STARTS; i++) {
		size_t block = first + 1 + i;
		uint64_t start = TABLE_NO_START;

		if (block < w->count && w->starts[block] - cell <= TABLE_NO_START)
			start = w->starts[block] - cell - 1;
		starts |= start << i * TABLE_START_BITS;
	}
	return starts;
}

/* Whether an entry holds all starts of blocks that matter to a lookup in its text. */
static bool is_enough(const struct index_writer *w, size_t first, const struct index_cell *text,
		      uint64_t cell)
{
	const uint64_t end = text->start + (1ull << text->shift);
	const uint64_t cell_end = cell + (1u << TABLE_CELL_SHIFT);
	size_t last = first + TABLE_ENTRY_STARTS;

	if (last >= w->count || w->starts[last] >= end)
		return true;
	return last + 1 >= w->count || w->starts[last + 1] >= cell_end;
}

static int write_entry(struct index_writer *w, struct index_cell text)
{
	const uint64_t cell = text.start >> TABLE_CELL_SHIFT << TABLE_CELL_SHIFT;
	size_t first = first_block(w, text.start);
	uint64_t entry = (uint64_t)first << TABLE_ENTRY_BLOCK | next_starts(w, first, cell);
	uint8_t bytes[TABLE_ENTRY_SIZE];
	int r = 0;

	if (!is_enough(w, first, &text, cell)) {
		entry = TABLE_ENTRY_SPLIT | (w->cells + w->quarter_count);
		r = split(w, &text);
	}
	bytes_store(bytes, entry, sizeof(bytes), false);
	byte_buffer_put(w->out, bytes, sizeof(bytes));
	return r;
}

/*
 * The index of @cells cells.  @starts: those of @count blocks, from the table's start on, ascending
 * from 0.  0; -ENOMEM, and then @ret is to be given back, too.
 */
static int table_index_make(const uint64_t *starts, size_t count, uint64_t cells,
			    struct byte_buffer *ret)
{
	struct index_writer w = {.starts = starts, .count = count, .cells = cells, .out = ret};
	int r = 0;

	for (uint64_t i = 0; i < cells && !r; i++)
		r = write_entry(&w, (struct index_cell){i << TABLE_CELL_SHIFT, TABLE_CELL_SHIFT});
	for (size_t i = 0; i < w.quarter_count && !r; i++)
		r = write_entry(&w, w.quarters[i]);
	free(w.quarters);
	return !r && ret->failed ? -ENOMEM : r;
}

/* Cells that a table may have, and as many more for each row. */
#define SPARE_CELLS (1u << 19)
#define CELLS_A_ROW (1u << 9)
#define MOST_CELLS (1u << 31)

/**
 * struct table_output - a table that is being written
 * @b: its rows
 * @rules: their rules
 * @start: address of the first cell
 * @cells: their number
 * @index, @blocks: the parts
 */
struct table_output {
	const struct table_builder *b;
	struct table_rules rules;
	uint64_t start, cells;
	struct byte_buffer index;
	struct table_blocks blocks;
};

int table_builder_init(const struct bobbin_arch *arch, const uint8_t *build_id, size_t length,
		       struct table_builder *ret)
{
	*ret = (struct table_builder){.arch = arch};
	if (length >= 2 && length <= TABLE_BUILD_ID_MAX) {
		memcpy(ret->build_id, build_id, length);
		ret->build_id_len = (uint8_t)length;
	}
	return rule_rows_init(&ret->rows);
}

void table_builder_fini(struct table_builder *builder)
{
	rule_rows_fini(&builder->rows);
	*builder = (struct table_builder){0};
}

static bool is_full(const struct table_builder *b)
{
	return b->limit &&
	       (b->rows.count >= TABLE_MOST_ROWS || b->rows.count >= b->limit / TABLE_ROW_BYTES);
}

int table_builder_push(struct table_builder *b, uint64_t start, uint32_t rule, bool begins)
{
	if (is_full(b))
		return -E2BIG;
	return rule_rows_push(&b->rows, (struct rule_row){start, rule, begins});
}

int table_builder_begin(struct table_builder *builder, uint64_t start)
{
	if (builder->opened || (builder->rows.count && start < builder->end))
		return -EINVAL;
	builder->opened = true;
	if (!builder->rows.count || start == builder->end)
		return 0;
	return table_builder_push(builder, builder->end, RULE_NONE, false);
}

static const struct rule_row *last_row(const struct table_builder *b)
{
	return b->rows.count ? &b->rows.row[b->rows.count - 1] : NULL;
}

int table_builder_row(struct table_builder *builder, uint64_t start, uint32_t rule)
{
	const struct rule_row *last = last_row(builder);
	bool begins = builder->opened;

	if (last ? start <= last->start : !begins)
		return -EINVAL;
	if (!begins && last->rule == rule)
		return 0;
	builder->opened = false;
	return table_builder_push(builder, start, rule, begins);
}

int table_builder_rule(struct table_builder *builder, uint64_t start,
		       const struct bobbin_rule *rule)
{
	uint32_t number;
	int r = rule_pool_of_rule(&builder->rows.rules, rule, &number);

	return r ? r : table_builder_row(builder, start, number);
}

int table_builder_repeat(struct table_builder *builder, uint64_t start, uint32_t rule)
{
	if (++builder->repeated > TABLE_MAX_REPEATED)
		return -E2BIG;
	return table_builder_row(builder, start, rule);
}

int table_builder_end(struct table_builder *builder, uint64_t end)
{
	const struct rule_row *last = last_row(builder);

	if (builder->opened || !last || end <= last->start)
		return -EINVAL;
	builder->end = end;
	return 0;
}

static bool is_over(const struct table_output *o, uint64_t size)
{
	return o->b->limit && size > o->b->limit;
}

static int write_parts(struct table_output *o)
{
	const struct table_builder *b = o->b;
	int r = table_rules_init(&b->rows, &o->rules);

	if (!r)
		r = table_blocks_make(&o->rules, o->start, b->end, b->limit, &o->blocks);
	if (!r)
		r = table_index_make(o->blocks.starts, o->blocks.count, o->cells, &o->index);
	return r;
}

static void write_head(const struct table_output *o, uint8_t head[TABLE_HEAD_SIZE])
{
	const struct table_builder *b = o->b;

	memset(head, 0, TABLE_HEAD_SIZE);
	memcpy(head, TABLE_MAGIC, TABLE_MAGIC_SIZE);
	bytes_store(head + TABLE_AT_VERSION, TABLE_VERSION, 4, false);
	bytes_store(head + TABLE_AT_MACHINE, b->arch->elf_machine, 2, false);
	head[TABLE_AT_BIG_ENDIAN] = b->arch->big_endian;
	head[TABLE_AT_ID_LENGTH] = b->build_id_len;
	memcpy(head + TABLE_AT_BUILD_ID, b->build_id, b->build_id_len);
	bytes_store(head + TABLE_AT_CELLS, (uint32_t)o->cells, 4, false);
	bytes_store(head + TABLE_AT_START, o->start, 8, false);
	bytes_store(head + TABLE_AT_END, b->end, 8, false);
	bytes_store(head + TABLE_AT_ENTRIES, (uint32_t)(o->index.size / TABLE_ENTRY_SIZE), 4,
		    false);
	bytes_store(head + TABLE_AT_BLOCKS, (uint32_t)o->blocks.count, 4, false);
	bytes_store(head + TABLE_AT_WORDS, o->rules.word_count, 4, false);
	bytes_store(head + TABLE_AT_WIDE, o->rules.wide_count, 4, false);
}

static int join_parts(struct table_output *o, uint8_t **data, uint64_t *size)
{
	struct byte_buffer out = {0};
	uint8_t head[TABLE_HEAD_SIZE];
	int r;

	write_head(o, head);
	byte_buffer_put(&out, head, sizeof(head));
	byte_buffer_put(&out, o->blocks.pairs, sizeof(o->blocks.pairs));
	table_rules_write(&o->rules, &out);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->index.data, o->index.size);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->blocks.bytes.data, o->blocks.bytes.size);
	r = out.failed ? -ENOMEM : is_over(o, out.size) ? -E2BIG : 0;
	if (r) {
		byte_buffer_fini(&out);
		return r;
	}
	*data = out.data;
	*size = out.size;
	return 0;
}

int table_builder_make(const struct table_builder *builder, uint8_t **data, uint64_t *size)
{
	struct table_output o = {.b = builder};
	int r;

	if (!builder->rows.count || builder->opened)
		return -ENODATA;
	o.start = builder->rows.row[0].start >> TABLE_CELL_SHIFT << TABLE_CELL_SHIFT;
	o.cells = ((builder->end - 1 - o.start) >> TABLE_CELL_SHIFT) + 1;
	if (o.cells > SPARE_CELLS + CELLS_A_ROW * (uint64_t)builder->rows.count ||
	    o.cells > MOST_CELLS)
		return -ERANGE;
	if (is_over(&o, o.cells * TABLE_ENTRY_SIZE))
		return -E2BIG;
	r = write_parts(&o);
	if (!r)
		r = join_parts(&o, data, size);
	table_rules_fini(&o.rules);
	byte_buffer_fini(&o.index);
	table_blocks_fini(&o.blocks);
	return r;
}
