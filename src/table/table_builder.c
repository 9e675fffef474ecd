/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_builder.h"

#include <errno.h>

#include "core/bytes.h"
#include "table/table_blocks.h"
#include "table/table_index.h"

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
	if (!r && is_over(o, o->index.size + o->blocks.bytes.size))
		r = -E2BIG;
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

	write_head(o, head);
	byte_buffer_put(&out, head, sizeof(head));
	byte_buffer_put(&out, o->blocks.pairs, sizeof(o->blocks.pairs));
	table_rules_write(&o->rules, &out);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->index.data, o->index.size);
	byte_buffer_align(&out, TABLE_BLOCK_SIZE);
	byte_buffer_put(&out, o->blocks.bytes.data, o->blocks.bytes.size);
	if (out.failed) {
		byte_buffer_fini(&out);
		return -ENOMEM;
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
