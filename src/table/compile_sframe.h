/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compile_sframe.h - SFrame sections become a compiled table that says what lookups in them say.
 *
 * But for linkers' stubs of which they say what cannot be, as in unwind/indexed_sections.h.
 */
#ifndef BOBBIN_TABLE_COMPILE_SFRAME_H
#define BOBBIN_TABLE_COMPILE_SFRAME_H

#include <bobbin/sframe.h>

/*
 * Make a table of sections of one architecture, of which the first that has a row says what holds.
 *
 * @limit: bytes that the table may have
 * @data: the table, which becomes the caller's
 *
 * 0; -EBADMSG: functions are malformed, or overlap in a way that a table cannot tell; -ENODATA:
 * there are no rows; otherwise as table_sources_rows() and table_builder_make().
 */
int compile_sframe_within(const struct bobbin_sframe_view *views, unsigned int count,
			  uint64_t limit, uint8_t **data, uint64_t *size);

#endif
