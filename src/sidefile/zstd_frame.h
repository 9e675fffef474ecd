/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zstd_frame.h - single zstd frames with checksums.
 */
#ifndef BOBBIN_SIDEFILE_ZSTD_FRAME_H
#define BOBBIN_SIDEFILE_ZSTD_FRAME_H

#include <bobbin/reason.h>
#include <zstd.h>

#include "base/byte_buffer.h"

/* A context that makes small frames with checksums, or NULL.  ZSTD_freeCCtx(). */
ZSTD_CCtx *zstd_frame_compressor(void);

/* Append the frame of some bytes.  0, -ENOMEM. */
int zstd_frame_put(ZSTD_CCtx *context, const void *bytes, size_t size, struct byte_buffer *out);

/*
 * Decompress bytes that must be exactly one frame with a checksum and with at
 * most @limit bytes in it, which are put in place of what @out had.  What the
 * frame claims is checked before anything is allocated.
 *
 * 0; -ENOMEM; -EBADMSG: @err gets the reason, its offset is @offset.
 */
int zstd_frame_get(ZSTD_DCtx *context, const void *frame, size_t size, size_t limit,
		   uint64_t offset, struct bobbin_error *err, struct byte_buffer *out);

#endif
