/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_snapshot.h - a JIT table of another process as it is now, and where it will grow.
 */
#ifndef BOBBIN_BPFWALK_JIT_SNAPSHOT_H
#define BOBBIN_BPFWALK_JIT_SNAPSHOT_H

#include "base/content_digest.h"
#include "unwind/table_set.h"

/* Entries of which a snapshot is made. */
#define JIT_SNAPSHOT_ROWS (1u << 18)

/**
 * struct jit_snapshot - the entries of all tables of a chain
 * @tail, @used: the last table, and its bytes that were in use before the entries were read
 * @data, @size: a compiled table, to be freed; the text begins at SECTION_TABLE_ADDR.  NULL: there
 *	are no entries
 * @key: of all this
 */
struct jit_snapshot {
	uint64_t tail, used;
	uint8_t *data;
	uint64_t size;
	uint8_t key[CONTENT_DIGEST_SIZE];
};

/* Where the chain ends now.  0; -EFAULT; -EBADMSG: it has too many tables. */
int jit_snapshot_tail(const struct jit_source *jit, uint64_t *tail, uint64_t *used);

/* 0; -EBADMSG: it is malformed; -EFAULT; -ENOMEM; -E2BIG: more than @limit bytes, or entries. */
int jit_snapshot_make(const struct jit_source *jit, const struct bobbin_arch *arch, uint64_t limit,
		      struct jit_snapshot *ret);

#endif
