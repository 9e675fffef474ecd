/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/block_codec.h"

#include <errno.h>

#include "core/bytes.h"
#include "core/refusal.h"

/* Frames are small and made once: the last byte is worth the time. */
#define LEVEL 19

ZSTD_CCtx *zstd_frame_compressor(void)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (!context)
		return NULL;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
		ZSTD_freeCCtx(context);
		return NULL;
	}
	return context;
}

int zstd_frame_put(ZSTD_CCtx *context, const void *bytes, size_t size, struct byte_buffer *out)
{
	size_t bound = ZSTD_compressBound(size), used;
	uint8_t *to = byte_buffer_room(out, bound);

	if (!to)
		return -ENOMEM;
	used = ZSTD_compress2(context, to, bound, bytes, size);
	if (ZSTD_isError(used))
		return -ENOMEM;
	out->size += used;
	return 0;
}

int zstd_frame_get(ZSTD_DCtx *context, const void *frame, size_t size, size_t limit,
		   uint64_t offset, struct bobbin_error *err, struct byte_buffer *out)
{
	unsigned long long content = ZSTD_getFrameContentSize(frame, size);
	uint8_t *to;
	size_t got;

	if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
	    ZSTD_findFrameCompressedSize(frame, size) != size)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_FRAME);
	if (content > limit)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_LIMIT);
	out->size = 0;
	to = byte_buffer_room(out, content + 1);
	if (!to)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(context, to, content, frame, size);
	if (ZSTD_isError(got) || got != content)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_FRAME);
	out->size = got;
	return 0;
}

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* The likely start of the next function: the next aligned address. */
static uint64_t likely_start(uint64_t end)
{
	return (end + SIDEFILE_CODE_ALIGN - 1) & -(uint64_t)SIDEFILE_CODE_ALIGN;
}

void block_write(struct block_writer *writer, const struct compiled_table *rules,
		 const struct block_rows *block, struct byte_buffer *out)
{
	struct block_writer *w = writer;

	w->rules.size = w->lengths.size = w->gaps.size = 0;
	for (uint32_t i = 0; i < block->count; i++) {
		const struct rule_row *row = &block->rows[i];

		byte_buffer_uleb(&w->rules, row->rule);
		if (i + 1 == block->count)
			break;
		if (compiled_table_is_none(rules, row->rule))
			byte_buffer_uleb(&w->gaps, zigzag((int64_t)(row[1].start -
								    likely_start(row->start))));
		else
			byte_buffer_uleb(&w->lengths, row[1].start - row->start);
	}
	out->size = 0;
	out->failed |= w->rules.failed || w->lengths.failed || w->gaps.failed;
	byte_buffer_uleb(out, block->count);
	byte_buffer_uleb(out, block->rows[0].start - block->function);
	byte_buffer_uleb(out, w->rules.size);
	byte_buffer_uleb(out, w->lengths.size);
	byte_buffer_put(out, w->rules.data, w->rules.size);
	byte_buffer_put(out, w->lengths.data, w->lengths.size);
	byte_buffer_put(out, w->gaps.data, w->gaps.size);
}

void block_writer_fini(struct block_writer *writer)
{
	byte_buffer_fini(&writer->rules);
	byte_buffer_fini(&writer->lengths);
	byte_buffer_fini(&writer->gaps);
}

/* A block being read: one cursor for each column. */
struct columns {
	struct bytes rules, lengths, gaps;
};

static struct bytes column(struct bytes *in, uint64_t size)
{
	const uint8_t *start = in->data + in->pos;

	bytes_skip(in, size);
	return bytes_of(start, in->bad ? 0 : size, false);
}

static bool read_columns(struct bytes *in, uint64_t first, struct block_rows *rows,
			 struct columns *ret)
{
	uint64_t count = bytes_uleb(in), before = bytes_uleb(in);
	uint64_t rules = bytes_uleb(in), lengths = bytes_uleb(in);

	ret->rules = column(in, rules);
	ret->lengths = column(in, lengths);
	ret->gaps = column(in, bytes_left(in));
	if (in->bad || !count || count > SIDEFILE_BLOCK_ROWS || before > first)
		return false;
	rows->count = (uint32_t)count;
	rows->function = first - before;
	return true;
}

static bool is_read(const struct bytes *column)
{
	return !column->bad && !bytes_left(column);
}

static bool read_rows(struct columns *c, const struct compiled_table *rules, uint64_t first,
		      struct block_rows *ret)
{
	uint64_t at = first, next;

	for (uint32_t i = 0; i < ret->count; i++) {
		uint64_t number = bytes_uleb(&c->rules);

		if (c->rules.bad || number >= rules->word_count + rules->wide_count)
			return false;
		ret->rows[i] = (struct rule_row){at, (uint32_t)number,
						 compiled_table_begins(rules, (uint32_t)number)};
		if (i + 1 == ret->count)
			break;
		if (compiled_table_is_none(rules, (uint32_t)number))
			next = likely_start(at) + (uint64_t)unzigzag(bytes_uleb(&c->gaps));
		else
			next = at + bytes_uleb(&c->lengths);
		if (next <= at)
			return false;
		at = next;
	}
	return at < ret->end && is_read(&c->rules) && is_read(&c->lengths) && is_read(&c->gaps);
}

int block_read(const struct byte_buffer *content, const struct compiled_table *rules,
	       uint64_t first, uint64_t offset, struct bobbin_error *err, struct block_rows *ret)
{
	struct bytes in = bytes_of(content->data, content->size, false);
	struct columns c;

	if (!read_columns(&in, first, ret, &c) || !read_rows(&c, rules, first, ret))
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_BLOCK);
	return 0;
}
