/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * built_function.h - functions whose rows are bytes already become part of a section.
 */
#ifndef BOBBIN_SFRAME_BUILT_FUNCTION_H
#define BOBBIN_SFRAME_BUILT_FUNCTION_H

#include <bobbin/sframe_builder.h>

#include "sframe/layout.h"

/* Bytes before a function's rows. */
static inline uint32_t sframe_attribute_size(unsigned int version)
{
	return version >= 3 ? SFRAME_V3_ATTR_SIZE : 0;
}

/* V3: write the record before a function's rows.  Returns the first byte after it. */
static inline uint8_t *sframe_put_attribute(const struct bobbin_sframe_builder *b,
					    const struct bobbin_sframe_built *fde, uint8_t *at)
{
	if (b->version < 3)
		return at;
	at = bytes_store(at, fde->num_fres, 2, b->arch->big_endian);
	*at++ = fde->info;
	*at++ = fde->flex ? SFRAME_FDE_TYPE_FLEX : 0;
	*at++ = fde->rep_size;
	return at;
}

/* V2: whether a function that starts there can be in the section. */
bool built_function_in_reach(const struct bobbin_sframe_builder *b, uint64_t start);

/*
 * Count the function @b->fdes[@b->fde_count], whose rows are the @size bytes after all
 * others, with V3's attribute record.  0, -ERANGE.
 */
int built_function_append(struct bobbin_sframe_builder *b, uint32_t size);

#endif
