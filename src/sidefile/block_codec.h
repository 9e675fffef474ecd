/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block_codec.h - two thousand rows in the fewest bytes.
 *
 * A block is taken apart into three columns, each of which is more alike in itself, so that
 * compression finds more:
 *
 *	rules    number of each row's rule in the table
 *	lengths  bytes of code of each row that has a rule
 *	gaps     after each row that has none: how far the next one is from where functions
 *	         start, 0, -1, 1, -2, … being 0, 1, 2, 3, …
 *
 * The last row ends with the block.  All numbers are ULEB128.  Content: number of rows, bytes
 * from the start of the function of the first row to that row, bytes of the first and of the
 * second column, the columns.
 */
#ifndef BOBBIN_SIDEFILE_BLOCK_CODEC_H
#define BOBBIN_SIDEFILE_BLOCK_CODEC_H

#include <bobbin/reason.h>
#include <zstd.h>

#include "base/byte_buffer.h"
#include "sidefile/sidefile_format.h"
#include "table/compiled_table.h"
#include "table/table_rules.h"

/* A context that makes small frames with checksums, or NULL.  ZSTD_freeCCtx(). */
ZSTD_CCtx *zstd_frame_compressor(void);

/* Append the frame of some bytes.  0, -ENOMEM. */
int zstd_frame_put(ZSTD_CCtx *context, const void *bytes, size_t size, struct byte_buffer *out);

/*
 * Decompress bytes that must be exactly one frame with a checksum and with at
 * most @limit bytes in it, which are put in place of what @out had.  What the
 * frame claims is checked before anything is allocated.
 *
 * 0; -ENOMEM; -EBADMSG: @err gets the reason, its offset is @offset.
 */
int zstd_frame_get(ZSTD_DCtx *context, const void *frame, size_t size, size_t limit,
		   uint64_t offset, struct bobbin_error *err, struct byte_buffer *out);

/**
 * struct block_rows - the rows of a block
 * @rows, @count: in ascending order, at least one; their rules have the numbers of the table
 * @function: start of the function to which the first one belongs
 * @end: of the last one
 */
struct block_rows {
	struct rule_row rows[SIDEFILE_BLOCK_ROWS];
	uint32_t count;
	uint64_t function, end;
};

/* A block's columns; starts as all zero. */
struct block_writer {
	struct byte_buffer rules, lengths, gaps;
};

/* Put the content of a block in place of what @out has.  @rules: has the rules' words. */
void block_write(struct block_writer *writer, const struct compiled_table *rules,
		 const struct block_rows *block, struct byte_buffer *out);
void block_writer_fini(struct block_writer *writer);

/*
 * Decode a block that covers [@first, @ret->end).  0; -EBADMSG, with @offset and a reason in
 * @err, and @ret undefined.
 */
int block_read(const struct byte_buffer *content, const struct compiled_table *rules,
	       uint64_t first, uint64_t offset, struct bobbin_error *err, struct block_rows *ret);

#endif
