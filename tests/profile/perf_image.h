/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_image.h - a perf.data file in memory, written byte by byte by a test.
 */
#ifndef BOBBIN_TESTS_PROFILE_PERF_IMAGE_H
#define BOBBIN_TESTS_PROFILE_PERF_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "profile/perf_format.h"

struct perf_image {
	struct byte_buffer file;
	size_t data, record; /* where the data and the last record begin */
};

/* Header and one attribute entry whose attribute takes @attr_size bytes. */
static inline struct perf_image perf_image_begin(const struct perf_event_attr *attr,
						 uint32_t attr_size)
{
	struct perf_file_header header = {.magic = PERF_FILE_MAGIC, .size = sizeof(header)};
	struct perf_image image = {0};
	struct perf_event_attr copy = *attr;
	size_t known = attr_size < sizeof(copy) ? attr_size : sizeof(copy);

	copy.size = attr_size;
	header.attr_size = attr_size + sizeof(struct perf_file_section);
	header.attrs.offset = sizeof(header);
	header.attrs.size = header.attr_size;
	header.data.offset = header.attrs.offset + header.attrs.size;
	image.data = header.data.offset;
	byte_buffer_put(&image.file, &header, sizeof(header));
	byte_buffer_put(&image.file, &copy, known);
	for (size_t i = known; i < attr_size; i++)
		byte_buffer_put(&image.file, "\xee", 1);
	byte_buffer_zeroes(&image.file, sizeof(struct perf_file_section));
	return image;
}

static inline void perf_image_record(struct perf_image *image, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	image->record = image->file.size;
	byte_buffer_put(&image->file, &header, sizeof(header));
}

static inline void perf_image_u64(struct perf_image *image, uint64_t v)
{
	byte_buffer_native64(&image->file, v);
}

/* All that was appended since perf_image_record() is the record. */
static inline void perf_image_record_end(struct perf_image *image)
{
	uint16_t size = (uint16_t)(image->file.size - image->record);

	memcpy(image->file.data + image->record + offsetof(struct perf_event_header, size), &size,
	       sizeof(size));
}

/* The data ends here. */
static inline void perf_image_end(struct perf_image *image)
{
	uint64_t size = image->file.size - image->data;

	memcpy(image->file.data + offsetof(struct perf_file_header, data.size), &size,
	       sizeof(size));
}

#endif
