/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/block_codec.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/section_maker.h"
#include "core/refusal.h"
#include "sidefile/sidefile_format.h"
#include "sidefile/zigzag.h"

/* Where a function most likely starts. */
static uint64_t likely_start(uint64_t end)
{
	return (end + SIDEFILE_CODE_ALIGN - 1) & -(uint64_t)SIDEFILE_CODE_ALIGN;
}

static uint8_t flags_of(const struct bobbin_sframe_function *f)
{
	return (uint8_t)((f->rep_size ? SIDEFILE_REPEATS : 0) | (f->signal ? SIDEFILE_SIGNAL : 0) |
			 (f->count && f->rows[0].start ? SIDEFILE_LATE : 0));
}

static void write_start(struct block_writer *b, const struct bobbin_sframe_function *f)
{
	struct byte_buffer *out = &b->functions;
	uint64_t likely = b->count ? likely_start(b->end) : b->first;
	uint8_t flags = flags_of(f);

	byte_buffer_uleb(out, zigzag((int64_t)(f->start - likely)) << 1 | (flags != 0));
	if (flags)
		byte_buffer_u8(out, flags);
	if (flags & SIDEFILE_REPEATS)
		byte_buffer_u8(out, f->rep_size);
	if (flags & SIDEFILE_LATE)
		byte_buffer_uleb(out, f->rows[0].start);
}

static void write_lengths(struct block_writer *b, const struct bobbin_sframe_function *f)
{
	uint32_t end = f->rep_size ? f->rep_size : f->size;

	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t next = i + 1 < f->count ? f->rows[i + 1].start : end;

		byte_buffer_uleb(&b->lengths, next - f->rows[i].start);
	}
	if (f->rep_size || !f->count)
		byte_buffer_uleb(&b->lengths, f->size);
}

void block_writer_add(struct block_writer *block, const struct rule_dictionary *rules,
		      const struct bobbin_sframe_function *function)
{
	if (!block->count)
		block->first = function->start;
	write_start(block, function);
	for (uint32_t i = 0; i < function->count; i++)
		byte_buffer_uleb(&block->symbols, 1 + (uint64_t)rule_dictionary_find(
							      rules, &function->rows[i].rule));
	byte_buffer_uleb(&block->symbols, 0);
	write_lengths(block, function);
	block->end = function->start + function->size;
	block->count++;
}

void block_writer_finish(struct block_writer *block, struct byte_buffer *out)
{
	struct block_writer *b = block;

	out->size = 0;
	out->failed |= b->functions.failed || b->symbols.failed || b->lengths.failed;
	byte_buffer_uleb(out, b->count);
	byte_buffer_uleb(out, b->functions.size);
	byte_buffer_uleb(out, b->symbols.size);
	byte_buffer_put(out, b->functions.data, b->functions.size);
	byte_buffer_put(out, b->symbols.data, b->symbols.size);
	byte_buffer_put(out, b->lengths.data, b->lengths.size);
	b->functions.size = b->symbols.size = b->lengths.size = 0;
	b->count = 0;
}

void block_writer_fini(struct block_writer *block)
{
	byte_buffer_fini(&block->functions);
	byte_buffer_fini(&block->symbols);
	byte_buffer_fini(&block->lengths);
}

/* A block being read: one cursor for each column. */
struct columns {
	struct bytes functions, symbols, lengths;
	uint64_t count, end;
};

static struct bytes column(struct bytes *in, uint64_t size)
{
	const uint8_t *start = in->data + in->pos;

	bytes_skip(in, size);
	return bytes_of(start, in->bad ? 0 : size, false);
}

static bool read_columns(const struct byte_buffer *content, uint64_t first, struct columns *ret)
{
	struct bytes in = bytes_of(content->data, content->size, false);
	uint64_t count = bytes_uleb(&in), functions = bytes_uleb(&in), symbols = bytes_uleb(&in);

	*ret = (struct columns){.count = count, .end = first};
	ret->functions = column(&in, functions);
	ret->symbols = column(&in, symbols);
	ret->lengths = column(&in, bytes_left(&in));
	return !in.bad && count;
}

/* The first row's start, or 0. */
static uint32_t read_start(struct columns *c, bool is_first, struct bobbin_sframe_function *f)
{
	uint64_t gap = bytes_uleb(&c->functions);
	uint8_t flags = gap & 1 ? bytes_u8(&c->functions) : 0;
	uint64_t late;

	if (flags & ~SIDEFILE_ALL_FLAGS)
		c->functions.bad = true;
	f->start = (is_first ? c->end : likely_start(c->end)) + (uint64_t)unzigzag(gap >> 1);
	f->signal = flags & SIDEFILE_SIGNAL;
	if (flags & SIDEFILE_REPEATS) {
		f->rep_size = bytes_u8(&c->functions);
		c->functions.bad |= !f->rep_size;
	}
	late = flags & SIDEFILE_LATE ? bytes_uleb(&c->functions) : 0;
	c->functions.bad |= late > UINT32_MAX;
	return (uint32_t)late;
}

/* A length that keeps @start + length within 32 bits. */
static uint32_t read_length(struct columns *c, uint32_t start)
{
	uint64_t length = bytes_uleb(&c->lengths);

	if (length <= UINT32_MAX - start)
		return start + (uint32_t)length;
	c->lengths.bad = true;
	return start;
}

/* The function's rows; false: the block is malformed.  *@end: after the last. */
static int read_rows(struct block_reader *r, struct columns *c, struct bobbin_sframe_function *f,
		     uint32_t *end)
{
	uint64_t symbol;

	while ((symbol = bytes_uleb(&c->symbols)) != 0) {
		if (symbol > r->rule_count || f->count == BOBBIN_SFRAME_MAX_ROWS)
			return -EBADMSG;
		if (vector_reserve(&r->rows, &r->capacity, f->count + (size_t)1, sizeof(*r->rows)))
			return -ENOMEM;
		r->rows[f->count].start = *end;
		r->rows[f->count++].rule = r->rules[symbol - 1];
		*end = read_length(c, *end);
	}
	f->rows = r->rows;
	return 0;
}

static int read_function(struct block_reader *r, struct columns *c, bool is_first,
			 struct bobbin_sframe_function *ret)
{
	struct bobbin_sframe_function f = {0};
	uint32_t end = read_start(c, is_first, &f);
	int status = read_rows(r, c, &f, &end);

	if (status)
		return status;
	f.size = f.rep_size || !f.count ? read_length(c, 0) : end;
	if (c->functions.bad || c->symbols.bad || c->lengths.bad ||
	    (f.rep_size && end > f.rep_size))
		return -EBADMSG;
	c->end = f.start + f.size;
	*ret = f;
	return 0;
}

static int decode_functions(struct block_reader *r, struct columns *c, struct section_maker *maker)
{
	for (uint64_t i = 0; i < c->count; i++) {
		struct bobbin_sframe_function f;
		int status = read_function(r, c, !i, &f);

		if (!status)
			status = section_maker_add(maker, &f);
		if (status)
			return status == -ENOMEM ? status : -EBADMSG;
		if (bobbin_sframe_builder_size(&maker->builder) > SIDEFILE_MAX_SECTION)
			return -E2BIG;
	}
	return 0;
}

int block_decode(struct block_reader *reader, const struct byte_buffer *content, uint64_t first,
		 uint64_t offset, struct bobbin_error *err, uint8_t **data, uint64_t *size)
{
	struct section_maker maker;
	struct columns c;
	int r;

	if (!read_columns(content, first, &c))
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_BLOCK);
	r = section_maker_init(reader->arch, 0, 3, false, 0, &maker);
	if (r)
		return r;
	r = decode_functions(reader, &c, &maker);
	if (!r)
		r = section_maker_finish(&maker, data, size);
	section_maker_fini(&maker);
	if (r == -EBADMSG || r == -E2BIG)
		return refuse(err, offset,
			      r == -E2BIG ? BOBBIN_REASON_SIDEFILE_LIMIT
					  : BOBBIN_REASON_SIDEFILE_BLOCK);
	return r;
}

void block_reader_fini(struct block_reader *reader)
{
	free(reader->rows);
	*reader = (struct block_reader){0};
}
