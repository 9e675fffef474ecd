/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build_id_path.h"
#include "base/file_range.h"
#include "base/path_list.h"
#include "base/regular_file.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "sidefile/sidefile_format.h"
#include "sidefile/sidefile_head.h"
#include "table/table_rules.h"

#define SUFFIX ".sframe.zst"

char *sidefile_path(const char *folder, size_t length, const uint8_t *build_id, size_t id_length)
{
	return build_id_file(folder, length, build_id, id_length, SUFFIX);
}

int sidefile_find(const char *folders, const uint8_t *build_id, size_t id_length)
{
	const char *folder;
	size_t length;

	if (id_length < 2)
		return -ENOENT;
	while ((folder = path_list_next(&folders, &length))) {
		char *path = sidefile_path(folder, length, build_id, id_length);
		int fd;

		if (!path)
			return -ENOMEM;
		fd = regular_file_open(path, 0, NULL);
		free(path);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

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

/* A decoded block. */
struct cached_block {
	uint32_t index;
	uint64_t used;           /* when, by @clock; 0: empty */
	struct block_rows *rows; /* owned; NULL: none yet */
};

struct sidefile {
	int fd;
	uint64_t clock;
	ZSTD_DCtx *decompressor;
	struct sidefile_head head;
	struct byte_buffer frame, content; /* of the frame that is read */
	struct cached_block cache[SIDEFILE_CACHED];
};

static int read_all(int fd, uint64_t offset, uint64_t size, struct bobbin_error *err,
		    struct byte_buffer *ret)
{
	uint8_t *to;
	ssize_t n;

	ret->size = 0;
	to = byte_buffer_room(ret, size);
	if (!to)
		return -ENOMEM;
	n = file_range_start(fd, offset, to, size);
	if (n < 0)
		return (int)n;
	ret->size = (size_t)n;
	return ret->size < size ? refuse(err, offset + ret->size, BOBBIN_REASON_TRUNCATED) : 0;
}

/* Read a frame and what is in it. */
static int read_frame(struct sidefile *s, uint64_t offset, uint64_t size, size_t limit,
		      struct bobbin_error *err)
{
	int r;

	/* a frame may be a little larger than what is in it, but not much */
	if (size > ZSTD_compressBound(limit))
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_LIMIT);
	r = read_all(s->fd, offset, size, err, &s->frame);
	return r ? r
		 : zstd_frame_get(s->decompressor, s->frame.data, size, limit, offset, err,
				  &s->content);
}

static bool has_magic(struct bytes *in)
{
	if (bytes_u32(in) != SIDEFILE_SKIPPABLE_MAGIC ||
	    bytes_u32(in) != SIDEFILE_PREAMBLE_SIZE - 8)
		return false;
	for (unsigned int i = 0; i < SIDEFILE_MAGIC_SIZE; i++)
		if (bytes_u8(in) != (uint8_t)SIDEFILE_MAGIC[i])
			return false;
	return true;
}

/* *@head_size: of the head's frame. */
static int read_preamble(struct sidefile *s, struct bobbin_error *err, uint32_t *head_size)
{
	struct bytes in;
	int r = read_all(s->fd, 0, SIDEFILE_PREAMBLE_SIZE, err, &s->frame);

	if (r)
		return r;
	in = bytes_of(s->frame.data, s->frame.size, false);
	if (!has_magic(&in))
		return refuse(err, 0, BOBBIN_REASON_SIDEFILE_MAGIC);
	if (bytes_u32(&in) != SIDEFILE_VERSION)
		return refuse(err, in.pos - 4, BOBBIN_REASON_SIDEFILE_VERSION);
	*head_size = bytes_u32(&in);
	return 0;
}

static int read_head(struct sidefile *s, struct bobbin_error *err)
{
	struct stat status;
	uint64_t end;
	uint32_t size;
	int r;

	if (fstat(s->fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	r = read_preamble(s, err, &size);
	if (r)
		return r;
	end = SIDEFILE_PREAMBLE_SIZE + (uint64_t)size;
	if (end > (uint64_t)status.st_size)
		return refuse(err, (uint64_t)status.st_size, BOBBIN_REASON_TRUNCATED);
	r = read_frame(s, SIDEFILE_PREAMBLE_SIZE, size, SIDEFILE_MAX_HEAD, err);
	return r ? r
		 : sidefile_head_read(&s->content, end, (uint64_t)status.st_size, err, &s->head);
}

int sidefile_open(int fd, struct bobbin_error *err, struct sidefile **ret)
{
	struct sidefile *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (err)
		*err = (struct bobbin_error){0};
	if (!s)
		return r;
	s->fd = fd;
	s->decompressor = ZSTD_createDCtx();
	if (s->decompressor)
		r = read_head(s, err);
	if (r) {
		s->fd = -1;
		sidefile_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sidefile_close(struct sidefile *sidefile)
{
	if (!sidefile)
		return;
	for (unsigned int i = 0; i < SIDEFILE_CACHED; i++)
		free(sidefile->cache[i].rows);
	sidefile_head_fini(&sidefile->head);
	byte_buffer_fini(&sidefile->frame);
	byte_buffer_fini(&sidefile->content);
	ZSTD_freeDCtx(sidefile->decompressor);
	if (sidefile->fd >= 0)
		close(sidefile->fd);
	free(sidefile);
}

const struct sidefile_head *sidefile_head(const struct sidefile *sidefile)
{
	return &sidefile->head;
}

static int decode(struct sidefile *s, uint32_t index, struct bobbin_error *err,
		  struct block_rows *ret)
{
	const struct sidefile_block *b = &s->head.blocks[index];
	int r = read_frame(s, b->offset, b->size, SIDEFILE_MAX_BLOCK, err);

	if (r)
		return r;
	ret->end = index + 1 < s->head.block_count ? b[1].first : s->head.end;
	return block_read(&s->content, &s->head.rules, b->first, b->offset, err, ret);
}

/* The block if it is there, or else the place that was not used for longest. */
static struct cached_block *place_for(struct sidefile *s, uint32_t index)
{
	struct cached_block *oldest = s->cache;

	for (unsigned int i = 0; i < SIDEFILE_CACHED; i++) {
		struct cached_block *b = &s->cache[i];

		if (b->used && b->index == index)
			return b;
		if (b->used < oldest->used)
			oldest = b;
	}
	return oldest;
}

int sidefile_block(struct sidefile *sidefile, uint32_t index, struct bobbin_error *err,
		   const struct block_rows **ret)
{
	struct cached_block *place = place_for(sidefile, index);

	if (!place->used || place->index != index) {
		int r;

		if (!place->rows)
			place->rows = malloc(sizeof(*place->rows));
		if (!place->rows)
			return -ENOMEM;
		place->used = 0;
		r = decode(sidefile, index, err, place->rows);
		if (r)
			return r;
		place->index = index;
	}
	place->used = ++sidefile->clock;
	*ret = place->rows;
	return 0;
}

/* The last block that starts at or before an address; -1: none does. */
static int64_t find_block(const struct sidefile_head *head, uint64_t vaddr)
{
	if (vaddr >= head->end)
		return -1;
	return (int64_t)bisect(i, 0, head->block_count, head->blocks[i].first > vaddr) - 1;
}

/* Where the function begins to which a row of a block belongs. */
static uint64_t function_of(const struct compiled_table *rules, const struct block_rows *block,
			    uint32_t i)
{
	for (;; i--) {
		const struct rule_row *row = &block->rows[i];

		if (row->begins)
			return row->start;
		if (compiled_table_is_none(rules, row->rule))
			return row[1].start;
		if (!i)
			return block->function;
	}
}

int sidefile_rule(const struct sidefile *sidefile, uint32_t number, struct bobbin_rule *ret)
{
	return compiled_table_number(&sidefile->head.rules, number, ret);
}

/* The row at an address, but for its function; in which block, and where in it. */
static int find_row(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_error *err,
		    struct bobbin_row *ret, const struct block_rows **ret_block, uint32_t *ret_row)
{
	int64_t index = find_block(&sidefile->head, vaddr);
	const struct block_rows *block;
	struct bobbin_rule rule;
	uint32_t i;
	int r;

	if (index < 0)
		return refuse_as(-ENOENT, err, 0, BOBBIN_REASON_NO_FUNCTION);
	r = sidefile_block(sidefile, (uint32_t)index, err, &block);
	if (r)
		return r;
	i = (uint32_t)bisect(k, 1, block->count, block->rows[k].start > vaddr) - 1;
	r = sidefile_rule(sidefile, block->rows[i].rule, &rule);
	if (r)
		return refuse_as(r, err, sidefile->head.blocks[index].offset,
				 r == -ENOENT ? BOBBIN_REASON_NO_FUNCTION
					      : BOBBIN_REASON_SIDEFILE_BLOCK);
	*ret = (struct bobbin_row){
		.rule = rule,
		.start = block->rows[i].start,
		.end = i + 1 < block->count ? block->rows[i + 1].start : block->end,
	};
	*ret_block = block;
	*ret_row = i;
	return 0;
}

int sidefile_lookup(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_error *err,
		    struct bobbin_row *ret)
{
	const struct block_rows *block;
	uint32_t i;
	int r = find_row(sidefile, vaddr, err, ret, &block, &i);

	if (!r)
		ret->function = function_of(&sidefile->head.rules, block, i);
	return r;
}

int sidefile_lookup_row(struct sidefile *sidefile, uint64_t vaddr, struct bobbin_row *ret,
			bool *begins)
{
	const struct block_rows *block;
	uint32_t i;
	int r = find_row(sidefile, vaddr, NULL, ret, &block, &i);

	if (!r)
		*begins = block->rows[i].begins;
	return r;
}
