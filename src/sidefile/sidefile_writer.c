/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile_writer.h"

#include <errno.h>
#include <string.h>

#include "convert/function_rows.h"
#include "convert/section_maker.h"
#include "core/refusal.h"
#include "sidefile/block_codec.h"
#include "sidefile/sidefile_format.h"
#include "sidefile/sidefile_head.h"
#include "sidefile/zstd_frame.h"

/**
 * struct packing - a side-file in the making
 * @view: what goes in
 * @err: for the caller
 * @rows: memory for one function's rows
 * @rules: all rules
 * @end: after the last function
 * @block: functions since the last block was closed
 * @measure: the same as a section, to know how large they are decoded
 * @head, @block_capacity: the blocks so far
 * @compressor: makes frames
 * @content: of a frame
 * @frames: the blocks' frames
 */
struct packing {
	const struct bobbin_sframe_view *view;
	struct bobbin_error *err;
	struct function_rows rows;
	struct rule_dictionary rules;
	uint64_t end;
	struct block_writer block;
	struct section_maker measure;
	struct sidefile_head head;
	size_t block_capacity;
	ZSTD_CCtx *compressor;
	struct byte_buffer content, frames;
};

static int refuse_function(struct packing *p, uint32_t index, enum bobbin_reason reason)
{
	return refuse(p->err, p->view->fde_off + (uint64_t)index * p->view->fde_size, reason);
}

static int count_rules(struct packing *p)
{
	for (uint32_t i = 0; i < p->view->num_fdes; i++) {
		struct bobbin_sframe_function f;
		int r = function_rows_read(&p->rows, p->view, i, p->err, &f);

		if (r < 0)
			return r;
		for (uint32_t k = 0; r && k < f.count; k++)
			if (rule_dictionary_count(&p->rules, &f.rows[k].rule))
				return -ENOMEM;
	}
	return rule_dictionary_sort(&p->rules);
}

static int close_block(struct packing *p)
{
	size_t before = p->frames.size;
	int r;

	section_maker_fini(&p->measure);
	if (!p->block.count)
		return 0;
	block_writer_finish(&p->block, &p->content);
	if (p->content.failed)
		return -ENOMEM;
	r = zstd_frame_put(p->compressor, p->content.data, p->content.size, &p->frames);
	if (!r)
		r = vector_reserve(&p->head.blocks, &p->block_capacity,
				   p->head.block_count + (size_t)1, sizeof(*p->head.blocks));
	if (r)
		return r;
	p->head.blocks[p->head.block_count++] = (struct sidefile_block){
		.first = p->block.first,
		.size = (uint32_t)(p->frames.size - before),
	};
	return 0;
}

static int open_block(struct packing *p)
{
	return section_maker_init(p->head.arch, 0, 3, false, 0, &p->measure);
}

static int next_block(struct packing *p)
{
	int r = close_block(p);

	return r ? r : open_block(p);
}

/* Into the block, which is closed when it is large enough. */
static int add_function(struct packing *p, uint32_t index)
{
	struct bobbin_sframe_function f;
	int r = function_rows_read(&p->rows, p->view, index, p->err, &f);

	if (r <= 0)
		return r;
	if (f.start < p->end || f.start + f.size < f.start)
		return refuse_function(p, index, BOBBIN_REASON_SFRAME_ORDER);
	r = f.start - p->end > SIDEFILE_MAX_GAP ? next_block(p) : 0;
	if (!r)
		r = section_maker_add(&p->measure, &f);
	if (r == -ERANGE || r == -EINVAL)
		return refuse_function(p, index, BOBBIN_REASON_SFRAME_RULE);
	if (r)
		return r;
	block_writer_add(&p->block, &p->rules, &f);
	p->end = f.start + f.size;
	if (bobbin_sframe_builder_size(&p->measure.builder) < SIDEFILE_BLOCK_TARGET)
		return 0;
	return next_block(p);
}

static int make_blocks(struct packing *p)
{
	int r = open_block(p);

	for (uint32_t i = 0; i < p->view->num_fdes && !r; i++)
		r = add_function(p, i);
	return r ? r : close_block(p);
}

static int put_together(struct packing *p, uint8_t **data, uint64_t *size)
{
	struct byte_buffer head = {0}, file = {0};
	int r;

	sidefile_head_write(&p->head, &p->rules, &p->content);
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
	function_rows_fini(&p->rows);
	rule_dictionary_fini(&p->rules);
	block_writer_fini(&p->block);
	section_maker_fini(&p->measure);
	sidefile_head_fini(&p->head);
	ZSTD_freeCCtx(p->compressor);
	byte_buffer_fini(&p->content);
	byte_buffer_fini(&p->frames);
}

int sidefile_make(const struct bobbin_sframe_view *view, const uint8_t *build_id, uint8_t id_length,
		  struct bobbin_error *err, uint8_t **data, uint64_t *size)
{
	struct packing p = {.view = view, .err = err, .head.arch = view->arch};
	int r;

	if (id_length == 1 || id_length > sizeof(p.head.build_id))
		return -EINVAL;
	p.head.build_id_len = id_length;
	memcpy(p.head.build_id, build_id, id_length);
	p.compressor = zstd_frame_compressor();
	r = p.compressor ? count_rules(&p) : -ENOMEM;
	if (!r)
		r = make_blocks(&p);
	if (!r)
		r = put_together(&p, data, size);
	fini(&p);
	return r;
}
