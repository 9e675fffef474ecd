/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_blob.h - bytes that grow: a record or a feature in the making.
 *
 * Appending never fails on the spot.  If memory ran out, @failed is set and
 * what follows is dropped: build the whole thing, then check once.
 */
#ifndef BOBBIN_PROFILE_PERF_BLOB_H
#define BOBBIN_PROFILE_PERF_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_blob {
	uint8_t *data; /* zeroed struct: empty */
	size_t size, capacity;
	bool failed;
};

/**
 * perf_blob_bytes() - append bytes
 * @blob: the blob
 * @data: the bytes, or NULL for zeroes
 * @size: how many
 */
void perf_blob_bytes(struct perf_blob *blob, const void *data, size_t size);

/**
 * perf_blob_u32() - append a number in the byte order of this machine
 * @blob: the blob
 * @v: the number
 */
void perf_blob_u32(struct perf_blob *blob, uint32_t v);

/**
 * perf_blob_u64() - append a number in the byte order of this machine
 * @blob: the blob
 * @v: the number
 */
void perf_blob_u64(struct perf_blob *blob, uint64_t v);

/**
 * perf_blob_align() - append zeroes
 * @blob: the blob
 * @align: until its size is a multiple of this power of two
 */
void perf_blob_align(struct perf_blob *blob, size_t align);

/**
 * perf_blob_fini() - free the memory
 * @blob: any blob, a zeroed one too
 */
void perf_blob_fini(struct perf_blob *blob);

#endif
