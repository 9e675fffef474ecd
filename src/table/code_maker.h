/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_maker.h - who makes compiled tables of machine code, and what is asked of them.
 */
#ifndef BOBBIN_TABLE_CODE_MAKER_H
#define BOBBIN_TABLE_CODE_MAKER_H

#include "base/coverage.h"
#include "table/table_cache.h"

/**
 * struct code_wish - the rules of which code are wanted
 * @fd: of the file
 * @functions: those that tables cover
 * @cache: where tables are kept, or NULL
 * @most: bytes of code that are analysed, or the file has too much
 * @stop: the answer is not wanted any more; or NULL
 */
struct code_wish {
	int fd;
	struct coverage *functions;
	struct table_cache *cache;
	uint64_t most;
	const _Atomic bool *stop;
};

/**
 * struct code_found - a compiled table with them
 * @kept: one that was found or kept; to be given to kept_table_fini()
 * @made, @size: or one that was made and not kept; the caller's
 * @analysed: bytes of code for which it was made now
 */
struct code_found {
	struct kept_table kept;
	uint8_t *made;
	uint64_t size;
	uint64_t analysed;
};

/**
 * struct code_maker - who infers rules
 * @make: find or make a table.  0; -EFBIG: none was found, and there is too much to analyse;
 *	-ENODATA: there are no rules, or is no code; another negative errno
 * @version: another number whenever the same file gets other rules
 */
struct code_maker {
	int (*make)(const struct code_wish *wish, struct code_found *ret);
	uint64_t version;
};

#endif
