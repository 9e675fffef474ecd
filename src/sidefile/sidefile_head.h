/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_head.h - whose side-file it is, its rules and where its blocks are.
 *
 * Content: ULEB128 e_machine; u8 1 for big-endian; u8 length of the build ID and the build
 * ID; ULEB128 number of words and of wide rules; the words, the wide rules and the beginners
 * as in a compiled table, but the first bytes of all words before all second ones, and so on,
 * wide rules likewise; ULEB128 number of blocks; for each the distance of its first PC from
 * that of the block before (from 0) and the bytes of its frame; ULEB128 bytes from the last
 * block's first PC to its end, where there is one.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_HEAD_H
#define BOBBIN_SIDEFILE_SIDEFILE_HEAD_H

#include "base/byte_buffer.h"
#include "table/compiled_table.h"

/* A block: its rows are from @first on, to that of the next one. */
struct sidefile_block {
	uint64_t first;
	uint64_t offset; /* of its frame in the file */
	uint32_t size;   /* of its frame */
};

/**
 * struct sidefile_head - what is known before a block is read
 * @arch, @build_id, @build_id_len: whose it is
 * @rules: a table with rules and no rows
 * @parts: the bytes of its rules, owned
 * @blocks, @block_count: owned; @first ascends
 * @end: of the last block
 */
struct sidefile_head {
	const struct bobbin_arch *arch;
	uint8_t build_id[TABLE_BUILD_ID_MAX];
	uint8_t build_id_len;
	struct compiled_table rules;
	struct byte_buffer parts;
	struct sidefile_block *blocks;
	uint32_t block_count;
	uint64_t end;
};

/* Take the rules from their bytes, @parts: @words words, @wide wide rules, and the beginners. */
void sidefile_head_rules(struct sidefile_head *head, uint32_t words, uint32_t wide);

/* Put the head's content in place of what @out has. */
void sidefile_head_write(const struct sidefile_head *head, struct byte_buffer *out);

/*
 * Read it back.  The first block's frame begins at @offset of a file that has
 * @file_size bytes, and the last one must end with it.  0; -ENOMEM; -EBADMSG, the
 * error's offset being in the content.
 */
int sidefile_head_read(const struct byte_buffer *content, uint64_t offset, uint64_t file_size,
		       struct bobbin_error *err, struct sidefile_head *ret);
void sidefile_head_fini(struct sidefile_head *head);

#endif
