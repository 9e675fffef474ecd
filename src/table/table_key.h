/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_key.h - what a compiled table is kept by: all that it was made of.
 *
 * A build ID alone says nothing: whoever makes a file chooses it.  So the key is a digest of
 * the bytes of the sections, too, with which nobody can make another file's table theirs.
 */
#ifndef BOBBIN_TABLE_TABLE_KEY_H
#define BOBBIN_TABLE_TABLE_KEY_H

#include "base/content_digest.h"
#include "table/table_sources.h"

struct table_key {
	uint8_t digest[CONTENT_DIGEST_SIZE];
};

/* @build_id: @length bytes, which the table will have. */
void table_key_of(const struct table_sources *sources, const uint8_t *build_id, uint8_t length,
		  struct table_key *ret);

#endif
