/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept_rows.h - a file's call-frame information as a compiled table from the cache.
 *
 * A lookup is faster, and nothing has to be listed first.  The answers are the same.
 */
#ifndef BOBBIN_UNWIND_KEPT_ROWS_H
#define BOBBIN_UNWIND_KEPT_ROWS_H

#include <bobbin/unwind.h>

#include "elf/elf_image.h"
#include "table/table_cache.h"
#include "unwind/call_frames.h"

/**
 * struct kept_rows - the table of one file; starts as all zero
 * @views, @count: its sections
 * @key: of the table, if @keyed
 * @kept: the table
 * @found: there is one
 * @made, @made_size: or one that was made since, owned
 * @error: why none could be made of at most @limit bytes, or 0
 */
struct kept_rows {
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count;
	struct table_key key;
	struct kept_table kept;
	bool keyed, found;
	uint8_t *made;
	uint64_t made_size;
	uint64_t limit;
	int error;
};

/* Look for the table of a file, whose bytes are borrowed.  Whether there is one. */
bool kept_rows_find(struct table_cache *cache, const struct elf_image *image,
		    struct kept_rows *ret);

/*
 * The bytes of the table, which is made once if there is none, of at most @limit bytes; valid
 * until kept_rows_fini().  -ENODATA: the file has no call-frame information, or in more than
 * one section; -EFBIG: it has too much; otherwise as compile_cfi_within().
 */
int kept_rows_table(const struct elf_image *image, struct kept_rows *rows, uint64_t limit,
		    const uint8_t **data, uint64_t *size);

/* Make the table, for those who look for it later.  Nothing is said of failures. */
void kept_rows_make(struct table_cache *cache, const struct elf_image *image,
		    struct kept_rows *rows);

/*
 * The table is not read for a while: one that was made is kept, and takes no memory after that.
 * Whether there is one that answers for the only section of the file, whose bytes it does not
 * borrow any more.
 */
bool kept_rows_rest(struct table_cache *cache, struct kept_rows *rows);

void kept_rows_fini(struct kept_rows *rows);

extern const struct table_ops kept_rows_ops;

#endif
