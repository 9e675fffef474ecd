/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compile_cfi.h - call-frame information becomes a compiled table.
 */
#ifndef BOBBIN_TABLE_COMPILE_CFI_H
#define BOBBIN_TABLE_COMPILE_CFI_H

#include <bobbin/cfi.h>

#include "table/table_builder.h"

/*
 * Add the rows of the live FDEs of sections of one file to an empty builder.  Where sections
 * overlap, the first in @views says what holds.  An FDE that is malformed ends there, and
 * says so in the row.
 *
 * @rows: rows of the sections, or NULL
 *
 * 0; -ENOMEM; -E2BIG: too many rows repeat, or the builder's limit.
 */
int compile_cfi_rows(const struct bobbin_cfi_view *views, unsigned int count,
		     struct table_builder *builder, uint64_t *rows);

/*
 * Make a table of them.
 *
 * @limit: bytes that it may have, 0: any number.  Rows that do not fit are refused early
 * @rows: rows of the sections, or NULL
 * @data: the table, which becomes the caller's
 *
 * 0; otherwise as compile_cfi_rows() and table_builder_make().
 */
int compile_cfi(const struct bobbin_cfi_view *views, unsigned int count, const uint8_t *build_id,
		size_t build_id_len, uint64_t limit, uint64_t *rows, uint8_t **data,
		uint64_t *size);

#endif
