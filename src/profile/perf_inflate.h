/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_inflate.h - the records inside the compressed records of `perf record -z`.
 *
 *	COMPRESSED | COMPRESSED | …   pieces of one zstd stream
 *	     └──────┴────► blocks of 1 MiB, each record whole in one block
 *
 * The inflated records are kept until the end, since they are delivered in the
 * order of time.  A record is handed out as soon as it is complete, so that
 * nothing is inflated beyond the first byte that is no record.  Memory is
 * bounded by PERF_INFLATE_RATIO times what was put in: stack copies repeat
 * themselves, 260 times was measured.
 */
#ifndef BOBBIN_PROFILE_PERF_INFLATE_H
#define BOBBIN_PROFILE_PERF_INFLATE_H

#include <stdint.h>

#define PERF_INFLATE_RATIO 1024
#define PERF_INFLATE_BLOCK (1u << 20)

struct perf_inflate;

/* 0 or -ENOMEM. */
int perf_inflate_open(struct perf_inflate **ret);
void perf_inflate_close(struct perf_inflate *inflate); /* or NULL */

/*
 * Add the bytes of one compressed record, which come from @offset.  @record is called for each
 * record that is complete now, with its place; a negative result of it ends the call and is
 * returned.  0; -EBADMSG if the stream is damaged, holds what is no record, or inflates too
 * much; -ENOMEM.
 */
int perf_inflate_put(struct perf_inflate *inflate, const void *data, uint64_t size, uint64_t offset,
		     int (*record)(void *ctx, uint64_t place, const uint8_t *record), void *ctx);

/* Bytes of a record that is not complete yet. */
uint64_t perf_inflate_left(const struct perf_inflate *inflate);

/* The record at a place; it stays there until perf_inflate_close(). */
const uint8_t *perf_inflate_at(const struct perf_inflate *inflate, uint64_t place);

/* The offset of the compressed bytes that completed it. */
uint64_t perf_inflate_offset(const struct perf_inflate *inflate, uint64_t place);

#endif
