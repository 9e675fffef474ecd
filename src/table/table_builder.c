/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_builder.h"

#include <errno.h>

#include "core/bisect.h"
#include "core/bytes.h"

/* Chunks that a table may have, and as many more for each row. */
#define SPARE_CHUNKS 65536u
#define CHUNKS_A_ROW 64u

/* Distances of pairs, which are shorter than two tokens would make them. */
#define PAIR_LIMIT 256u
/* Rules of pairs: others are too rare. */
#define PAIR_RULES 64u
#define PAIRS (TABLE_FIRST_PLAIN - TABLE_FIRST_PAIR)

struct line {
	uint64_t start;
	uint8_t shift;
};

/**
 * struct table_output - a table that is being written
 * @b: its rows
 * @start: address of the first chunk
 * @chunks: their number
 * @pairs: the part
 * @tokens: of pairs, by number and distance; 0: it is none
 * @lines, @line_count: chunks, and then their quarters
 * @index, @blocks: the parts
 */
struct table_output {
	const struct table_builder *b;
	uint64_t start, chunks;
	uint8_t pairs[TABLE_PAIRS_SIZE];
	uint8_t *tokens;
	struct line *lines;
	size_t line_count, line_capacity;
	struct byte_buffer index, blocks;
};

int table_builder_init(const struct bobbin_arch *arch, const uint8_t *build_id, size_t length,
		       struct table_builder *ret)
{
	*ret = (struct table_builder){.arch = arch};
	if (length >= 2 && length <= TABLE_BUILD_ID_MAX) {
		memcpy(ret->build_id, build_id, length);
		ret->build_id_len = (uint8_t)length;
	}
	return table_rules_init(&ret->rules);
}

void table_builder_fini(struct table_builder *builder)
{
	table_rules_fini(&builder->rules);
	free(builder->rows);
	*builder = (struct table_builder){0};
}

static bool is_full(const struct table_builder *b)
{
	return b->limit && (b->count >= TABLE_MOST_ROWS || b->count >= b->limit / TABLE_ROW_BYTES);
}

int table_builder_push(struct table_builder *b, uint64_t start, uint32_t rule, bool begins)
{
	if (is_full(b))
		return -E2BIG;
	if (vector_reserve(&b->rows, &b->capacity, b->count + 1, sizeof(*b->rows)))
		return -ENOMEM;
	b->rows[b->count++] = (struct table_row){start, rule, begins};
	b->rules.rules[rule].uses[begins]++;
	return 0;
}

int table_builder_begin(struct table_builder *builder, uint64_t start)
{
	if (builder->opened || (builder->count && start < builder->end))
		return -EINVAL;
	builder->opened = true;
	if (!builder->count || start == builder->end)
		return 0;
	return table_builder_push(builder, builder->end, TABLE_RULE_NONE, false);
}

int table_builder_row(struct table_builder *builder, uint64_t start, uint32_t rule)
{
	const struct table_row *last = builder->count ? builder->rows + builder->count - 1 : NULL;
	bool begins = builder->opened;

	if (last ? start <= last->start : !begins)
		return -EINVAL;
	if (!begins && last->rule == rule)
		return 0;
	builder->opened = false;
	return table_builder_push(builder, start, rule, begins);
}

int table_builder_repeat(struct table_builder *builder, uint64_t start, uint32_t rule)
{
	if (++builder->repeated > TABLE_MAX_REPEATED)
		return -E2BIG;
	return table_builder_row(builder, start, rule);
}

int table_builder_end(struct table_builder *builder, uint64_t end)
{
	if (builder->opened || !builder->count || end <= builder->rows[builder->count - 1].start)
		return -EINVAL;
	builder->end = end;
	return 0;
}

static uint32_t number_of(const struct table_builder *b, const struct table_row *row)
{
	return b->rules.rules[row->rule].numbers[row->begins];
}

/* The tokens of a row that is no pair; how many. */
static unsigned int plain_tokens(uint32_t distance, uint8_t to[3])
{
	uint32_t large = (distance - 1) / TABLE_LARGE_SKIP,
		 left = (distance - 1) % TABLE_LARGE_SKIP;
	uint32_t small = left / TABLE_SMALL_SKIP;
	unsigned int n = 0;

	if (large)
		to[n++] = (uint8_t)(TABLE_SMALL_SKIPS + large - 1);
	if (small)
		to[n++] = (uint8_t)(small - 1);
	to[n++] = (uint8_t)(TABLE_FIRST_PLAIN + left % TABLE_SMALL_SKIP);
	return n;
}

struct counted_pair {
	uint64_t gain;
	uint32_t pair; /* number and distance */
};

static int by_gain(const void *a, const void *b)
{
	const struct counted_pair *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static void count_pairs(const struct table_builder *b, struct counted_pair *pairs)
{
	for (size_t i = 1; i < b->count; i++) {
		uint64_t distance = b->rows[i].start - b->rows[i - 1].start;
		uint32_t number = number_of(b, &b->rows[i]);

		if (distance < PAIR_LIMIT && number < PAIR_RULES)
			pairs[number << 8 | distance].gain += distance > TABLE_PLAIN_MAX ? 2 : 1;
	}
}

static int choose_pairs(struct table_output *o)
{
	struct counted_pair *pairs = calloc(PAIR_RULES * PAIR_LIMIT, sizeof(*pairs));
	size_t used = 0;

	o->tokens = calloc(PAIR_RULES * PAIR_LIMIT, 1);
	if (!pairs || !o->tokens) {
		free(pairs);
		return -ENOMEM;
	}
	count_pairs(o->b, pairs);
	for (uint32_t i = 0; i < PAIR_RULES * PAIR_LIMIT; i++)
		if (pairs[i].gain)
			pairs[used++] = (struct counted_pair){pairs[i].gain, i};
	qsort(pairs, used, sizeof(*pairs), by_gain);
	for (size_t i = 0; i < used && i < PAIRS; i++) {
		uint8_t token = (uint8_t)(TABLE_FIRST_PAIR + i);

		o->tokens[pairs[i].pair] = token;
		bytes_store(o->pairs + 2 * token, pairs[i].pair & 0xff, 2, false);
		o->pairs[TABLE_DISTANCES_SIZE + token] = (uint8_t)(pairs[i].pair >> 8);
	}
	free(pairs);
	return 0;
}

/* Distances of tokens that are no pairs, the same in all tables. */
static void write_distances(uint8_t *to)
{
	for (uint32_t i = 0; i < TABLE_FIRST_PAIR; i++)
		bytes_store(to + 2 * i,
			    i < TABLE_SMALL_SKIPS ? (i + 1) * TABLE_SMALL_SKIP
						  : (i - TABLE_SMALL_SKIPS + 1) * TABLE_LARGE_SKIP,
			    2, false);
	for (uint32_t i = 0; i < TABLE_PLAIN_MAX; i++)
		bytes_store(to + 2 * (TABLE_FIRST_PLAIN + i), i + 1, 2, false);
}

/**
 * struct block_list - the blocks of a line
 * @bytes, @starts: of blocks
 * @parts: their number in all blocks
 * @tokens, @tail: of the last part: tokens, and rules at its end
 * @wide: rows of the last part if its rules have large numbers
 */
struct block_list {
	uint8_t bytes[TABLE_LINE_BLOCKS * TABLE_BLOCK_SIZE];
	uint16_t starts[TABLE_LINE_BLOCKS];
	unsigned int parts, tokens, tail, wide;
	bool is_wide;
};

static unsigned int block_count(const struct block_list *blocks)
{
	return (blocks->parts + TABLE_BLOCK_PARTS - 1) / TABLE_BLOCK_PARTS;
}

static uint8_t *block_at(struct block_list *blocks, unsigned int part)
{
	return blocks->bytes + part / TABLE_BLOCK_PARTS * TABLE_BLOCK_SIZE;
}

static uint8_t *part_at(struct block_list *blocks, unsigned int part)
{
	return block_at(blocks, part) + TABLE_BLOCK_HEAD +
	       part % TABLE_BLOCK_PARTS * TABLE_PART_SIZE;
}

/* Add to the count of the last part's tokens. */
static void count_tokens(struct block_list *blocks, unsigned int count)
{
	unsigned int part = blocks->parts - 1, bits = part % TABLE_BLOCK_PARTS * 4;
	uint8_t *counts = block_at(blocks, part) + TABLE_BLOCK_TOKENS;

	counts[bits / 8] = (uint8_t)(counts[bits / 8] + (count << bits % 8));
}

/* A part that starts with a rule; false: there are too many blocks. */
static bool begin_part(struct block_list *blocks, uint64_t offset, uint32_t number)
{
	unsigned int part = blocks->parts % TABLE_BLOCK_PARTS;
	uint8_t *block;

	if (blocks->parts == TABLE_LINE_BLOCKS * TABLE_BLOCK_PARTS)
		return false;
	block = block_at(blocks, blocks->parts);
	if (part) {
		bytes_store(block + 2 * (part - 1), (uint32_t)offset, 2, false);
	} else {
		memset(block, 0, TABLE_BLOCK_SIZE);
		for (unsigned int i = 0; i < TABLE_BLOCK_PARTS - 1; i++)
			bytes_store(block + 2 * i, TABLE_NO_START, 2, false);
		blocks->starts[blocks->parts / TABLE_BLOCK_PARTS] = (uint16_t)offset;
	}
	blocks->tokens = blocks->tail = blocks->wide = 0;
	blocks->is_wide = number >= TABLE_BYTE_RULES;
	blocks->parts++;
	bytes_store(part_at(blocks, blocks->parts - 1), number, 2, false);
	if (blocks->is_wide)
		count_tokens(blocks, TABLE_PART_WIDE);
	return true;
}

/* A row in a part that has wide ones; false: it has no room. */
static bool put_wide_row(struct block_list *blocks, uint32_t number, uint32_t distance)
{
	uint8_t *to = part_at(blocks, blocks->parts - 1) + 2 + 4 * blocks->wide;

	if (blocks->wide == TABLE_WIDE_ROWS)
		return false;
	bytes_store(to, distance, 2, false);
	bytes_store(to + 2, number, 2, false);
	blocks->wide++;
	return true;
}

/* A row in the last part; false: it has no room. */
static bool put_row(const struct table_output *o, struct block_list *blocks, uint32_t number,
		    uint32_t distance)
{
	uint8_t *part = part_at(blocks, blocks->parts - 1), token[3];
	unsigned int count = 1, tail = 0;

	if (blocks->is_wide)
		return put_wide_row(blocks, number, distance);
	if (number >= TABLE_BYTE_RULES)
		return false;
	token[0] = distance < PAIR_LIMIT && number < PAIR_RULES ? o->tokens[number << 8 | distance]
								: 0;
	if (!token[0]) {
		count = plain_tokens(distance, token);
		tail = 1;
	}
	if (blocks->tokens + count > TABLE_PART_TOKENS ||
	    1 + blocks->tokens + count + blocks->tail + tail > TABLE_PART_SIZE)
		return false;
	memcpy(part + 1 + blocks->tokens, token, count);
	blocks->tokens += count;
	count_tokens(blocks, count);
	if (tail)
		part[TABLE_PART_SIZE - ++blocks->tail] = (uint8_t)number;
	return true;
}

/* The rows of a line's text; false: they need more blocks than a line has. */
static bool encode_line(const struct table_output *o, const struct line *line,
			struct block_list *blocks)
{
	const struct table_builder *b = o->b;
	uint64_t end = line->start + ((uint64_t)1 << line->shift), last = line->start;
	/* rows that start at or before the text */
	size_t i = bisect(k, (size_t)0, b->count, b->rows[k].start > line->start);
	uint32_t number = b->rules.rules[i ? b->rows[i - 1].rule : TABLE_RULE_NONE].numbers[false];

	if (i && b->rows[i - 1].start == line->start)
		number = number_of(b, &b->rows[i - 1]);
	blocks->parts = 0;
	begin_part(blocks, 0, number);
	for (; i < b->count && b->rows[i].start < end; i++) {
		uint32_t distance = (uint32_t)(b->rows[i].start - last);

		number = number_of(b, &b->rows[i]);
		last = b->rows[i].start;
		if (!put_row(o, blocks, number, distance) &&
		    !begin_part(blocks, last - line->start, number))
			return false;
	}
	return true;
}

static int add_line(struct table_output *o, uint64_t start, unsigned int shift)
{
	if (vector_reserve(&o->lines, &o->line_capacity, o->line_count + 1, sizeof(*o->lines)))
		return -ENOMEM;
	o->lines[o->line_count++] = (struct line){start, (uint8_t)shift};
	return 0;
}

static int split_line(struct table_output *o, const struct line *line)
{
	unsigned int shift = line->shift - TABLE_QUARTER_SHIFT;
	const uint64_t start = line->start;
	int r = 0;

	for (uint64_t i = 0; i < 1u << TABLE_QUARTER_SHIFT && !r; i++)
		r = add_line(o, start + (i << shift), shift);
	return r;
}

static int write_line(struct table_output *o, size_t number)
{
	const struct line line = o->lines[number];
	struct block_list blocks;
	uint8_t bytes[TABLE_LINE_SIZE];
	uint32_t first = (uint32_t)(o->blocks.size / TABLE_BLOCK_SIZE);
	bool fits = encode_line(o, &line, &blocks);
	int r = 0;

	if (!fits) {
		first = TABLE_LINE_SPLIT | (uint32_t)o->line_count;
		r = split_line(o, &line);
	}
	bytes_store(bytes, first, 4, false);
	for (unsigned int i = 1; i < TABLE_LINE_BLOCKS; i++)
		bytes_store(bytes + 2 + 2 * i,
			    fits && i < block_count(&blocks) ? blocks.starts[i] : TABLE_NO_START, 2,
			    false);
	byte_buffer_put(&o->index, bytes, sizeof(bytes));
	if (fits)
		byte_buffer_put(&o->blocks, blocks.bytes,
				(size_t)block_count(&blocks) * TABLE_BLOCK_SIZE);
	return r;
}

static bool is_over(const struct table_output *o, uint64_t size)
{
	return o->b->limit && size > o->b->limit;
}

static int write_lines(struct table_output *o)
{
	int r = 0;

	for (uint64_t i = 0; i < o->chunks && !r; i++)
		r = add_line(o, o->start + (i << TABLE_CHUNK_SHIFT), TABLE_CHUNK_SHIFT);
	for (size_t i = 0; i < o->line_count && !r; i++)
		r = is_over(o, o->index.size + o->blocks.size) ? -E2BIG : write_line(o, i);
	if (!r && (o->index.failed || o->blocks.failed))
		r = -ENOMEM;
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
	bytes_store(head + TABLE_AT_CHUNKS, (uint32_t)o->chunks, 4, false);
	bytes_store(head + TABLE_AT_START, o->start, 8, false);
	bytes_store(head + TABLE_AT_END, b->end, 8, false);
	bytes_store(head + TABLE_AT_LINES, (uint32_t)o->line_count, 4, false);
	bytes_store(head + TABLE_AT_BLOCKS, (uint32_t)(o->blocks.size / TABLE_BLOCK_SIZE), 4,
		    false);
	bytes_store(head + TABLE_AT_WORDS, b->rules.word_count, 4, false);
	bytes_store(head + TABLE_AT_WIDE, b->rules.wide_count, 4, false);
}

static int join_parts(struct table_output *o, uint8_t **data, uint64_t *size)
{
	struct byte_buffer out = {0};
	uint8_t head[TABLE_HEAD_SIZE];

	write_head(o, head);
	byte_buffer_put(&out, head, sizeof(head));
	byte_buffer_put(&out, o->pairs, sizeof(o->pairs));
	table_rules_write(&o->b->rules, &out);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->index.data, o->index.size);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->blocks.data, o->blocks.size);
	if (out.failed) {
		byte_buffer_fini(&out);
		return -ENOMEM;
	}
	*data = out.data;
	*size = out.size;
	return 0;
}

int table_builder_make(struct table_builder *builder, uint8_t **data, uint64_t *size)
{
	struct table_output o = {.b = builder};
	int r;

	if (!builder->count || builder->opened)
		return -ENODATA;
	o.start = builder->rows[0].start >> TABLE_CHUNK_SHIFT << TABLE_CHUNK_SHIFT;
	o.chunks = ((builder->end - 1 - o.start) >> TABLE_CHUNK_SHIFT) + 1;
	if (o.chunks > SPARE_CHUNKS + CHUNKS_A_ROW * (uint64_t)builder->count ||
	    o.chunks >= TABLE_LINE_SPLIT / 8)
		return -ERANGE;
	if (is_over(&o, o.chunks * TABLE_LINE_SIZE))
		return -E2BIG;
	write_distances(o.pairs);
	r = table_rules_number(&builder->rules);
	if (!r)
		r = choose_pairs(&o);
	if (!r)
		r = write_lines(&o);
	if (!r)
		r = join_parts(&o, data, size);
	free(o.tokens);
	free(o.lines);
	byte_buffer_fini(&o.index);
	byte_buffer_fini(&o.blocks);
	return r;
}
