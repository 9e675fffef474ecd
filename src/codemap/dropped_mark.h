/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dropped_mark.h - why a table is not asked any more, in one word that any walk may set.
 */
#ifndef BOBBIN_CODEMAP_DROPPED_MARK_H
#define BOBBIN_CODEMAP_DROPPED_MARK_H

#include <bobbin/reason.h>
#include <stdatomic.h>

/*
 * Mark a table as malformed, as struct bobbin_code_entry.dropped does.  Once; true for the
 * first.  For readers, too.
 */
bool dropped_mark(_Atomic uint64_t *mark, const struct bobbin_error *error);

/* Why, of a mark that is not 0. */
static inline struct bobbin_error dropped_error(uint64_t dropped)
{
	return (struct bobbin_error){.offset = dropped >> 16,
				     .reason = (enum bobbin_reason)(dropped & UINT16_MAX)};
}

#endif
