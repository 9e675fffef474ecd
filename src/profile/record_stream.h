/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_stream.h - a recording that is read while it is made.
 *
 *	recorder ──pipe──► attributes | records | records | …
 *				│          │         │
 *				├──────────┴─► a recording
 *				└────────────────────┴─► a recording …
 *
 * What a pipe has brought since the last time, with what stands in front of all records, is a
 * recording by itself, which perf_reader_open_bytes() reads.  Memory is that of one piece.
 */
#ifndef BOBBIN_PROFILE_RECORD_STREAM_H
#define BOBBIN_PROFILE_RECORD_STREAM_H

#include <stddef.h>
#include <stdint.h>

/* Most of a piece: what stands in front takes from it. */
#define RECORD_STREAM_PIECE ((size_t)1 << 20)

/* Zero but for @fd to begin. */
struct record_stream {
	int fd; /* to read from; the caller's */
	uint8_t *bytes;
	size_t front; /* bytes that stand in front of all records; 0: not known yet */
	size_t whole; /* the end of the last whole record */
	size_t used;
};

/*
 * Wait for more records.  1 and a recording, valid until the next call; 0: the pipe is closed;
 * -EBADMSG: this is no recording; -ENOMEM; or the errno of read(2).
 */
int record_stream_next(struct record_stream *stream, const void **ret, size_t *size);

void record_stream_fini(struct record_stream *stream);

#endif
