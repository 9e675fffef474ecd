/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unknown_reader.h - reads a copy of a stack, but is unknown to the walker as such. */
#ifndef BOBBIN_TESTS_UNKNOWN_READER_H
#define BOBBIN_TESTS_UNKNOWN_READER_H

#include <bobbin/unwind.h>

static inline enum bobbin_reason read_slowly(void *ctx, uint64_t addr, void *dst, size_t len)
{
	return bobbin_stack_copy_read(ctx, addr, dst, len);
}

#endif
