/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * concatenation.c - sections that a linker unaware of SFrame put back to back.
 */
#include <bobbin/sframe.h>

#include "core/deps.h"

BOBBIN_API int bobbin_sframe_next(const void *data, size_t size, uint64_t addr, uint64_t *pos,
				  struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	const uint8_t *bytes = data;
	int status;

	while (*pos < size && !bytes[*pos])
		++*pos;
	if (*pos >= size)
		return 0;
	status = bobbin_sframe_view(bytes + *pos, size - *pos, addr + *pos, err, ret);
	if (status) {
		if (err)
			err->offset += *pos;
		return status;
	}
	*pos += ret->size;
	return 1;
}
