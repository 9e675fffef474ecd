/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "profile/perf_blob.h"

static bool reserve(struct perf_blob *blob, size_t size)
{
	size_t capacity = blob->capacity ? blob->capacity : 256;
	uint8_t *data;

	if (blob->failed)
		return false;
	if (size <= blob->capacity - blob->size)
		return true;
	while (capacity - blob->size < size && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	data = capacity - blob->size < size ? NULL : realloc(blob->data, capacity);
	if (!data) {
		blob->failed = true;
		return false;
	}
	blob->data = data;
	blob->capacity = capacity;
	return true;
}

void perf_blob_bytes(struct perf_blob *blob, const void *data, size_t size)
{
	if (!size || !reserve(blob, size))
		return;
	if (data)
		memcpy(blob->data + blob->size, data, size);
	else
		memset(blob->data + blob->size, 0, size);
	blob->size += size;
}

void perf_blob_u32(struct perf_blob *blob, uint32_t v)
{
	perf_blob_bytes(blob, &v, sizeof(v));
}

void perf_blob_u64(struct perf_blob *blob, uint64_t v)
{
	perf_blob_bytes(blob, &v, sizeof(v));
}

void perf_blob_align(struct perf_blob *blob, size_t align)
{
	perf_blob_bytes(blob, NULL, -blob->size & (align - 1));
}

void perf_blob_fini(struct perf_blob *blob)
{
	free(blob->data);
	*blob = (struct perf_blob){0};
}
