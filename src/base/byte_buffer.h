/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * byte_buffer.h - bytes that are written one after the other.
 *
 * When memory runs out, @failed is set and further bytes are dropped: write all
 * and check once.
 */
#ifndef BOBBIN_BASE_BYTE_BUFFER_H
#define BOBBIN_BASE_BYTE_BUFFER_H

#include <stdbool.h>

#include "base/vector.h"

struct byte_buffer {
	uint8_t *data; /* owned */
	size_t size, capacity;
	bool failed;
};

/* Room for @size bytes after the last one, or NULL. */
static inline uint8_t *byte_buffer_room(struct byte_buffer *b, size_t size)
{
	size_t need;

	if (b->failed || __builtin_add_overflow(b->size, size, &need) ||
	    vector_reserve(&b->data, &b->capacity, need ? need : 1, 1)) {
		b->failed = true;
		return NULL;
	}
	return b->data + b->size;
}

static inline void byte_buffer_put(struct byte_buffer *b, const void *bytes, size_t size)
{
	uint8_t *to = size ? byte_buffer_room(b, size) : NULL;

	if (!to)
		return;
	memcpy(to, bytes, size);
	b->size += size;
}

static inline void byte_buffer_zeroes(struct byte_buffer *b, size_t size)
{
	uint8_t *to = size ? byte_buffer_room(b, size) : NULL;

	if (!to)
		return;
	memset(to, 0, size);
	b->size += size;
}

/* Zeroes until the size is a multiple of a power of two. */
static inline void byte_buffer_align(struct byte_buffer *b, size_t align)
{
	byte_buffer_zeroes(b, -b->size & (align - 1));
}

/* A string with its terminator, and zeroes likewise. */
static inline void byte_buffer_string(struct byte_buffer *b, const char *string, size_t align)
{
	byte_buffer_put(b, string, strlen(string) + 1);
	byte_buffer_align(b, align);
}

/* In the byte order of this machine. */
static inline void byte_buffer_native32(struct byte_buffer *b, uint32_t value)
{
	byte_buffer_put(b, &value, sizeof(value));
}

static inline void byte_buffer_native64(struct byte_buffer *b, uint64_t value)
{
	byte_buffer_put(b, &value, sizeof(value));
}

static inline void byte_buffer_u8(struct byte_buffer *b, uint8_t value)
{
	byte_buffer_put(b, &value, 1);
}

/* Little-endian. */
static inline void byte_buffer_u32(struct byte_buffer *b, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		byte_buffer_u8(b, (uint8_t)(value >> 8 * i));
}

static inline void byte_buffer_uleb(struct byte_buffer *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		byte_buffer_u8(b, (uint8_t)(value | 0x80));
	byte_buffer_u8(b, (uint8_t)value);
}

static inline void byte_buffer_fini(struct byte_buffer *b)
{
	free(b->data);
	*b = (struct byte_buffer){0};
}

#endif
