/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sidefile/zstd_frame.h"

#include <errno.h>

#include "core/refusal.h"

/* Frames are small and made once: the last byte is worth the time. */
#define LEVEL 19

ZSTD_CCtx *zstd_frame_compressor(void)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (!context)
		return NULL;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
		ZSTD_freeCCtx(context);
		return NULL;
	}
	return context;
}

int zstd_frame_put(ZSTD_CCtx *context, const void *bytes, size_t size, struct byte_buffer *out)
{
	size_t bound = ZSTD_compressBound(size), used;
	uint8_t *to = byte_buffer_room(out, bound);

	if (!to)
		return -ENOMEM;
	used = ZSTD_compress2(context, to, bound, bytes, size);
	if (ZSTD_isError(used))
		return -ENOMEM;
	out->size += used;
	return 0;
}

int zstd_frame_get(ZSTD_DCtx *context, const void *frame, size_t size, size_t limit,
		   uint64_t offset, struct bobbin_error *err, struct byte_buffer *out)
{
	unsigned long long content = ZSTD_getFrameContentSize(frame, size);
	uint8_t *to;
	size_t got;

	if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN ||
	    ZSTD_findFrameCompressedSize(frame, size) != size)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_FRAME);
	if (content > limit)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_LIMIT);
	out->size = 0;
	to = byte_buffer_room(out, content + 1);
	if (!to)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(context, to, content, frame, size);
	if (ZSTD_isError(got) || got != content)
		return refuse(err, offset, BOBBIN_REASON_SIDEFILE_FRAME);
	out->size = got;
	return 0;
}
