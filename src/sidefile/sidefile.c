/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/sidefile.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_range.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "sidefile/sidefile_format.h"
#include "sidefile/zstd_frame.h"

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
