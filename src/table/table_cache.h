/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_cache.h - a folder in which compiled tables are kept.
 *
 *	FOLDER/NNNN….table	NNNN…: the key, in hexadecimal
 *
 *	head		magic, version, size, key and checksum of the table
 *	table		as in table_layout.h
 *
 * Only who owns the folder may write to it; a folder, or a file in it, that others could have
 * written is refused.  A file appears whole or not at all, is never changed, and is mapped to
 * be read only.  One that is not what was stored is removed.  If all take more than a
 * limit, those go that were not used for longest.
 *
 * Processes may share a folder.  One thread at a time may use a struct table_cache.
 */
#ifndef BOBBIN_TABLE_TABLE_CACHE_H
#define BOBBIN_TABLE_TABLE_CACHE_H

#include "base/content_digest.h"
#include "table/compiled_table.h"
#include "table/table_sources.h"

/*
 * What a compiled table is kept by: all that it was made of.
 *
 * A build ID alone says nothing: whoever makes a file chooses it.  So the key is a digest of
 * the bytes of the sections, too, with which nobody can make another file's table theirs.
 */
struct table_key {
	uint8_t digest[CONTENT_DIGEST_SIZE];
};

/* @build_id: @length bytes, which the table will have. */
void table_key_of(const struct table_sources *sources, const uint8_t *build_id, uint8_t length,
		  struct table_key *ret);

/* Bytes of all tables that are kept, unless another number is given. */
#define TABLE_CACHE_LIMIT (256ull << 20)

struct table_cache;

/**
 * struct kept_table - a table; all zero: there is none
 * @table: to be asked
 * @data, @size: its bytes
 * @map, @map_size: of the file that they are mapped from
 * @made: or they were made here, malloc()ed
 */
struct kept_table {
	struct compiled_table table;
	const uint8_t *data;
	uint64_t size;
	void *map;
	size_t map_size;
	uint8_t *made;
};

/*
 * Use a folder, which is made if there is none, for at most @limit bytes, 0: TABLE_CACHE_LIMIT.
 * 0; -EPERM with a reason in @err, or NULL: it belongs to another user, or others may write to it;
 * -ENOMEM; the errno of opening or making it.
 */
int table_cache_open(const char *folder, uint64_t limit, struct bobbin_error *err,
		     struct table_cache **ret);

/* NULL is fine.  Tables that were found stay valid. */
void table_cache_close(struct table_cache *cache);

/*
 * A table that is kept, to be given to kept_table_fini().  0; -ENOENT; -EBADMSG, -EPERM, with a
 * reason in @err, or NULL: it was refused, and is removed; the errno of reading; -ENOMEM.  @ret is
 * untouched on failure.
 */
int table_cache_find(struct table_cache *cache, const struct table_key *key,
		     struct bobbin_error *err, struct kept_table *ret);

/* Keep a table.  0; -EFBIG: it alone exceeds the limit; the errno of writing. */
int table_cache_keep(struct table_cache *cache, const struct table_key *key, const uint8_t *data,
		     uint64_t size);

/*
 * The same for a table that was made, which becomes @ret's; that is all zero before.  0; -EBADMSG:
 * it has too many rules.
 */
int kept_table_take(uint8_t *made, uint64_t size, struct kept_table *ret);

/* Its bytes are not read for a while: what memory holds of them can go. */
void kept_table_rest(const struct kept_table *table);

/* One that is all zero is fine. */
void kept_table_fini(struct kept_table *table);

#endif
