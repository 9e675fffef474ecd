/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_table.h - inferred rules of a file's code that no table covers, as a compiled table.
 */
#ifndef BOBBIN_INFER_CODE_TABLE_H
#define BOBBIN_INFER_CODE_TABLE_H

#include "base/coverage.h"
#include "table/table_cache.h"

/**
 * code_table_make() - find or make the table of a file
 * @fd: of the file
 * @functions: those that its tables cover, in no order; settled afterwards
 * @cache: where it is looked for and kept, or NULL
 * @most: bytes of code that are analysed at most, of those that no table covers
 * @kept: the table, if it is kept; to be given to kept_table_fini()
 * @made, @size: otherwise; the caller's
 *
 * It has the verified rows alone.  The key is a digest of all code of the file, and of what its
 * tables cover.
 *
 * Return: 0; -ENODATA: it has no such code, or no rules for it; -EFBIG: it has @size bytes of
 * it, which are too many, and no table is kept; otherwise as program_of_elf() and infer_rows().
 */
int code_table_make(int fd, struct coverage *functions, struct table_cache *cache, uint64_t most,
		    struct kept_table *kept, uint8_t **made, uint64_t *size);

#endif
