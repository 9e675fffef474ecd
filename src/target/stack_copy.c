/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/stack_memory.h>

#include <string.h>

#include "core/deps.h"

BOBBIN_API enum bobbin_reason bobbin_stack_copy_read(void *ctx, uint64_t addr, void *dst,
						     size_t len)
{
	const struct bobbin_stack_copy *copy = ctx;
	uint64_t offset = addr - copy->addr;

	if (addr < copy->addr)
		return BOBBIN_REASON_NO_MEMORY;
	if (offset > copy->size || len > copy->size - offset)
		return BOBBIN_REASON_STACK_END;
	/* nearly always a word, which compilers copy without a call */
	if (len == sizeof(uint64_t))
		memcpy(dst, copy->data + offset, sizeof(uint64_t));
	else
		memcpy(dst, copy->data + offset, len);
	return BOBBIN_REASON_NONE;
}
