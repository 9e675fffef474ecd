/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * block_codec.h - a few hundred functions in the fewest bytes.
 *
 * A block is taken apart into three columns, each of which is more alike in
 * itself, so that compression finds more:
 *
 *	functions  gap to the function before, and what is unusual
 *	symbols    1 + number of the rule of each row; 0 ends a function
 *	lengths    bytes of code of each row; so their sum is the function's size
 *
 * All numbers are ULEB128.  Content: number of functions, bytes of the first and
 * of the second column, the columns.
 */
#ifndef BOBBIN_SIDEFILE_BLOCK_CODEC_H
#define BOBBIN_SIDEFILE_BLOCK_CODEC_H

#include <bobbin/sframe_builder.h>

#include "sidefile/rule_dictionary.h"

/**
 * struct block_writer - a block in the making; starts as all zero
 * @functions, @symbols, @lengths: the columns
 * @count: functions
 * @first: first PC
 * @end: after the last function
 */
struct block_writer {
	struct byte_buffer functions, symbols, lengths;
	uint32_t count;
	uint64_t first, end;
};

/* Append a function that starts after the others and whose rules were counted. */
void block_writer_add(struct block_writer *block, const struct rule_dictionary *rules,
		      const struct bobbin_sframe_function *function);

/* Put the content in place of what @out has, and begin a new block. */
void block_writer_finish(struct block_writer *block, struct byte_buffer *out);
void block_writer_fini(struct block_writer *block);

/**
 * struct block_reader - what it takes to decode a file's blocks
 * @arch: of the code
 * @rules, @rule_count: the file's dictionary, borrowed
 * @rows, @capacity: memory for a function's rows, owned
 */
struct block_reader {
	const struct bobbin_arch *arch;
	const struct bobbin_rule *rules;
	uint32_t rule_count;
	struct bobbin_sframe_row *rows;
	size_t capacity;
};

/*
 * Decode a block whose first PC is @first into an SFrame section, V3, whose own
 * address is 0; its bytes become the caller's.  0; -ENOMEM; -EBADMSG, with
 * @offset and a reason in @err.
 */
int block_decode(struct block_reader *reader, const struct byte_buffer *content, uint64_t first,
		 uint64_t offset, struct bobbin_error *err, uint8_t **data, uint64_t *size);
void block_reader_fini(struct block_reader *reader);

#endif
