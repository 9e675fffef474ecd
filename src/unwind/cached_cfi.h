/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cached_cfi.h - a file's call-frame information as a compiled table from the cache.
 *
 * Lookups are faster than in the sections, and need no list of FDEs.  The answers are the same.
 */
#ifndef BOBBIN_UNWIND_CACHED_CFI_H
#define BOBBIN_UNWIND_CACHED_CFI_H

#include <bobbin/unwind.h>

#include "elf/elf_image.h"
#include "table/table_cache.h"
#include "unwind/call_frames.h"

/**
 * struct cached_cfi - the table of one file; starts as all zero
 * @views, @count: its sections, as long as they are not forgotten
 * @key: of the table, if @keyed
 * @kept: the table
 * @found: it was in the cache; or else it was made since, and is not asked
 * @error: why none could be made of at most @limit bytes, or 0
 */
struct cached_cfi {
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count;
	struct table_key key;
	struct kept_table kept;
	bool keyed, found;
	uint64_t limit;
	int error;
};

/* Look for the table of a file, whose bytes are borrowed.  Whether there is one. */
bool cached_cfi_find(struct table_cache *cache, const struct elf_image *image,
		     struct cached_cfi *ret);

/*
 * Make the table of @image, of at most @limit bytes, if there is none; @kept is valid until
 * cached_cfi_rest().  Another thread may do this while the table is not asked.  @image: not needed
 * where a table was found.  -ENODATA: the file has no call-frame information, or in more than one
 * section; -EFBIG: it has too much; -ESTALE: other information than it had; otherwise as
 * compile_cfi().
 */
int cached_cfi_table(const struct elf_image *image, struct cached_cfi *cfi, uint64_t limit);

/* Make the table and store it in the cache; failures are ignored. */
void cached_cfi_make(struct table_cache *cache, const struct elf_image *image,
		     struct cached_cfi *cfi);

/*
 * Free the memory of a table that is not read for a while.  One that was made is stored in the
 * cache first, without which it is made again where it is needed; one that is there by now is used
 * from then on.  Whether sections are no longer borrowed: of two, lookups need to know which of
 * them covers an address.  @cache: or NULL.
 */
bool cached_cfi_rest(struct table_cache *cache, const struct bobbin_arch *arch,
		     struct cached_cfi *cfi);

void cached_cfi_fini(struct cached_cfi *cfi);

extern const struct table_ops cached_cfi_ops;

#endif
