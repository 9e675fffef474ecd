/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inflate.h - decompression with a bound on what comes out.
 */
#ifndef BOBBIN_SYMBOL_INFLATE_H
#define BOBBIN_SYMBOL_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflate_format {
	INFLATE_ZLIB,
	INFLATE_ZSTD,
};

/*
 * Decompress a stream whose size is known: exactly @size bytes.
 * Returns 0, -EBADMSG, -ENOMEM (also if @size is absurd for the input).
 */
int inflate_exact(enum inflate_format format, const uint8_t *in, size_t in_size, size_t size,
		  uint8_t **ret);

/*
 * Decompress an xz stream of unknown size, at most @limit bytes.
 * Returns 0, -EBADMSG, -ENOMEM, -E2BIG.
 */
int inflate_xz(const uint8_t *in, size_t in_size, size_t limit, uint8_t **ret, size_t *ret_size);

#endif
