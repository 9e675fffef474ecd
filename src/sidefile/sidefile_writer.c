/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile_writer.h"

#include <errno.h>

#include "sidefile/block_codec.h"
#include "sidefile/sidefile_head.h"
#include "sidefile/zstd_frame.h"
#include "table/table_rules.h"

/**
 * struct packing - a side-file in the making
 * @builder: what goes in
 * @rules: its rules
 * @head, @block_capacity: the blocks so far
 * @block: the one that is being written
 * @function: start of the function that the rows have come to
 * @writer, @content: of it
 * @compressor: makes frames
 * @frames: the blocks' frames
 */
struct packing {
	const struct table_builder *builder;
	struct table_rules rules;
	struct sidefile_head head;
	size_t block_capacity;
	struct block_rows block;
	uint64_t function;
	struct block_writer writer;
	struct byte_buffer content;
	ZSTD_CCtx *compressor;
	struct byte_buffer frames;
};

static int number_rules(struct packing *p)
{
	int r = table_rules_init(&p->builder->rows, &p->rules);

	if (r)
		return r;
	table_rules_write(&p->rules, &p->head.parts);
	if (p->head.parts.failed)
		return -ENOMEM;
	sidefile_head_rules(&p->head, p->rules.word_count, p->rules.wide_count);
	return 0;
}

/* Whether the row before belongs to another function, or to none. */
static bool is_first(const struct rule_row *rows, size_t i)
{
	return rows[i].begins || rows[i].rule == RULE_NONE || !i ||
	       (rows[i - 1].rule == RULE_NONE && !rows[i - 1].begins);
}

/* Fill the block with rows from @first on. The index of the first row of the next block. */
static size_t take_rows(struct packing *p, size_t first)
{
	const struct rule_rows *rows = &p->builder->rows;
	size_t count = rows->count - first;

	if (count > SIDEFILE_BLOCK_ROWS)
		count = SIDEFILE_BLOCK_ROWS;
	for (size_t i = first; i < first + count; i++) {
		const struct rule_row *row = &rows->row[i];

		if (is_first(rows->row, i))
			p->function = row->start;
		if (i == first)
			p->block.function = p->function;
		p->block.rows[i - first] = (struct rule_row){
			row->start, table_rules_number(&p->rules, row), row->begins};
	}
	p->block.count = (uint32_t)count;
	return first + count;
}

static int write_block(struct packing *p)
{
	size_t before = p->frames.size;
	int r;

	block_write(&p->writer, &p->head.rules, &p->block, &p->content);
	if (p->content.failed)
		return -ENOMEM;
	r = zstd_frame_put(p->compressor, p->content.data, p->content.size, &p->frames);
	if (!r)
		r = vector_reserve(&p->head.blocks, &p->block_capacity,
				   p->head.block_count + (size_t)1, sizeof(*p->head.blocks));
	if (r)
		return r;
	p->head.blocks[p->head.block_count++] = (struct sidefile_block){
		.first = p->block.rows[0].start,
		.size = (uint32_t)(p->frames.size - before),
	};
	return 0;
}

static int write_blocks(struct packing *p)
{
	int r = 0;

	for (size_t i = 0; i < p->builder->rows.count && !r;) {
		i = take_rows(p, i);
		r = write_block(p);
	}
	return r;
}

static int put_together(struct packing *p, uint8_t **data, uint64_t *size)
{
	struct byte_buffer head = {0}, file = {0};
	int r;

	sidefile_head_write(&p->head, &p->content);
	r = p->content.failed
		    ? -ENOMEM
		    : zstd_frame_put(p->compressor, p->content.data, p->content.size, &head);
	byte_buffer_u32(&file, SIDEFILE_SKIPPABLE_MAGIC);
	byte_buffer_u32(&file, SIDEFILE_PREAMBLE_SIZE - 8);
	byte_buffer_put(&file, SIDEFILE_MAGIC, SIDEFILE_MAGIC_SIZE);
	byte_buffer_u32(&file, SIDEFILE_VERSION);
	byte_buffer_u32(&file, (uint32_t)head.size);
	byte_buffer_put(&file, head.data, head.size);
	byte_buffer_put(&file, p->frames.data, p->frames.size);
	byte_buffer_fini(&head);
	if (r || file.failed) {
		byte_buffer_fini(&file);
		return -ENOMEM;
	}
	*data = file.data;
	*size = file.size;
	return 0;
}

static void fini(struct packing *p)
{
	table_rules_fini(&p->rules);
	block_writer_fini(&p->writer);
	sidefile_head_fini(&p->head);
	ZSTD_freeCCtx(p->compressor);
	byte_buffer_fini(&p->content);
	byte_buffer_fini(&p->frames);
	free(p);
}

int sidefile_make(const struct table_builder *builder, uint8_t **data, uint64_t *size)
{
	struct packing *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->builder = builder;
	p->head.arch = builder->arch;
	p->head.end = builder->rows.count ? builder->end : 0;
	p->head.build_id_len = builder->build_id_len;
	memcpy(p->head.build_id, builder->build_id, builder->build_id_len);
	p->compressor = zstd_frame_compressor();
	r = p->compressor ? number_rules(p) : -ENOMEM;
	if (!r)
		r = write_blocks(p);
	if (!r)
		r = put_together(p, data, size);
	fini(p);
	return r;
}
