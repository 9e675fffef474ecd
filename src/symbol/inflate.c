/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/inflate.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* Deflate cannot expand more than 1032-fold (zlib's technical notes). */
#define ZLIB_MAX_RATIO 1032
#define XZ_FIRST_OUTPUT (64 << 10)
/* What a decoder of a -9e stream needs, and some. */
#define XZ_DECODER_MEMORY (80ull << 20)

static bool inflate_into(enum inflate_format format, const uint8_t *in, size_t in_size,
			 uint8_t *out, size_t size)
{
	uLongf out_size = size;

	if (format == INFLATE_ZSTD)
		return ZSTD_decompress(out, size, in, in_size) == size;
	return uncompress(out, &out_size, in, in_size) == Z_OK && out_size == size;
}

int inflate_exact(enum inflate_format format, const uint8_t *in, size_t in_size, size_t size,
		  uint8_t **ret)
{
	uint8_t *out;

	if (format == INFLATE_ZLIB && size / ZLIB_MAX_RATIO > in_size)
		return -EBADMSG;
	out = malloc(size ? size : 1);
	if (!out)
		return -ENOMEM;
	if (!inflate_into(format, in, in_size, out, size)) {
		free(out);
		return -EBADMSG;
	}
	*ret = out;
	return 0;
}

static int grow(uint8_t **out, size_t *capacity, size_t limit)
{
	size_t more = *capacity ? 2 * *capacity : XZ_FIRST_OUTPUT;
	uint8_t *bigger;

	if (*capacity >= limit)
		return -E2BIG;
	if (more > limit)
		more = limit;
	bigger = realloc(*out, more);
	if (!bigger)
		return -ENOMEM;
	*out = bigger;
	*capacity = more;
	return 0;
}

static int xz_run(lzma_stream *stream, size_t limit, uint8_t **out)
{
	size_t capacity = 0;
	lzma_ret status = LZMA_OK;

	while (status == LZMA_OK) {
		if (!stream->avail_out) {
			int err = grow(out, &capacity, limit);

			if (err)
				return err;
			stream->next_out = *out + stream->total_out;
			stream->avail_out = capacity - stream->total_out;
		}
		status = lzma_code(stream, LZMA_FINISH);
	}
	if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR)
		return -ENOMEM;
	return status == LZMA_STREAM_END ? 0 : -EBADMSG;
}

int inflate_xz(const uint8_t *in, size_t in_size, size_t limit, uint8_t **ret, size_t *ret_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	uint8_t *out = NULL;
	int err;

	if (lzma_stream_decoder(&stream, XZ_DECODER_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = in;
	stream.avail_in = in_size;
	err = xz_run(&stream, limit, &out);
	if (!err) {
		*ret = out;
		*ret_size = stream.total_out;
	} else {
		free(out);
	}
	lzma_end(&stream);
	return err;
}
