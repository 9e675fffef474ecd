/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_head.h - whose side-file it is, its rules and where its blocks are.
 *
 * Content: ULEB128 e_machine; u8 1 for big-endian; u8 length of the build ID and
 * the build ID; the rules, see rule_dictionary.c; ULEB128 number of blocks; for
 * each the distance of its first PC from that of the block before (from 0) and
 * the bytes of its frame.
 */
#ifndef BOBBIN_SIDEFILE_SIDEFILE_HEAD_H
#define BOBBIN_SIDEFILE_SIDEFILE_HEAD_H

#include "sidefile/rule_dictionary.h"

#define SIDEFILE_BUILD_ID_MAX 20

/* A block: its functions start at @first or after it. */
struct sidefile_block {
	uint64_t first;
	uint64_t offset; /* of its frame in the file */
	uint32_t size;   /* of its frame */
};

struct sidefile_head {
	const struct bobbin_arch *arch;
	uint8_t build_id[SIDEFILE_BUILD_ID_MAX];
	uint8_t build_id_len;
	struct bobbin_rule *rules; /* owned */
	uint32_t rule_count;
	struct sidefile_block *blocks; /* owned; @first ascends */
	uint32_t block_count;
};

/* Write the head's content; of @head not the rules, which @rules has. */
void sidefile_head_write(const struct sidefile_head *head, const struct rule_dictionary *rules,
			 struct byte_buffer *out);

/*
 * Read it back.  The first block's frame begins at @offset of a file that has
 * @file_size bytes, and the last one must end with it.  0; -ENOMEM; -EBADMSG, the
 * error's offset being in the content.
 */
int sidefile_head_read(const struct byte_buffer *content, uint64_t offset, uint64_t file_size,
		       struct bobbin_error *err, struct sidefile_head *ret);
void sidefile_head_fini(struct sidefile_head *head);

#endif
