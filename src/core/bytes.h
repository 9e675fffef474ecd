/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bytes.h - a cursor over bytes that we do not trust.
 *
 * Reading or seeking past the end sets @bad and yields 0 from then on, so a
 * record is read in one go and checked once; so does memory that cannot be read,
 * which sets @fault, too.  Only the functions of this
 * header move @pos: pos <= size always holds.
 */
#ifndef BOBBIN_CORE_BYTES_H
#define BOBBIN_CORE_BYTES_H

#include "core/memory.h"

struct bytes {
	const uint8_t *data;
	uint64_t size, pos;
	bool big_endian, bad, fault;
};

static inline struct bytes bytes_of(const void *data, uint64_t size, bool big_endian)
{
	return (struct bytes){.data = data, .size = size, .big_endian = big_endian};
}

static inline void bytes_seek(struct bytes *b, uint64_t pos)
{
	if (b->bad || pos > b->size) {
		b->bad = true;
		return;
	}
	b->pos = pos;
}

static inline uint64_t bytes_left(const struct bytes *b)
{
	return b->bad ? 0 : b->size - b->pos;
}

static inline void bytes_skip(struct bytes *b, uint64_t n)
{
	if (b->bad || n > b->size - b->pos) {
		b->bad = true;
		return;
	}
	b->pos += n;
}

/* An unsigned integer of n <= 8 bytes. */
static inline uint64_t bytes_get(struct bytes *b, unsigned int n)
{
	const uint8_t *p;
	uint64_t v = 0;

	if (b->bad || n > b->size - b->pos) {
		b->bad = true;
		return 0;
	}
	p = b->data + b->pos;
	b->pos += n;
	if (!MEMORY_IS_OURS) {
		v = memory_number(p, n, b->big_endian, &b->fault);
		b->bad = b->fault;
		return v;
	}
	if (n == 2)
		return load_u16(p, b->big_endian);
	if (n == 4)
		return load_u32(p, b->big_endian);
	if (n == 8)
		return load_u64(p, b->big_endian);
	for (unsigned int i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * (b->big_endian ? n - 1 - i : i);
	return v;
}

static inline uint8_t bytes_u8(struct bytes *b)
{
	return (uint8_t)bytes_get(b, 1);
}

static inline uint16_t bytes_u16(struct bytes *b)
{
	return (uint16_t)bytes_get(b, 2);
}

static inline uint32_t bytes_u32(struct bytes *b)
{
	return (uint32_t)bytes_get(b, 4);
}

static inline uint64_t bytes_u64(struct bytes *b)
{
	return bytes_get(b, 8);
}

/* A signed integer of n <= 8 bytes. */
static inline int64_t bytes_signed(struct bytes *b, unsigned int n)
{
	uint64_t v = bytes_get(b, n);
	uint64_t sign = 1ull << (8 * n - 1);

	return (int64_t)((v ^ sign) - sign);
}

/* A LEB128 of at most ten bytes; bits beyond the 64th are dropped. */
static inline uint64_t bytes_uleb(struct bytes *b)
{
	uint64_t v = 0;

	/* nearly all have one byte */
	if (MEMORY_IS_OURS && !b->bad && b->pos < b->size && b->data[b->pos] < 0x80)
		return b->data[b->pos++];
	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t c = bytes_u8(b);

		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

static inline int64_t bytes_sleb(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t c = bytes_u8(b);

		if (shift < 64)
			v |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		if ((c & 0x40) && shift + 7 < 64)
			v |= ~0ull << (shift + 7);
		return (int64_t)v;
	}
	b->bad = true;
	return 0;
}

/*
 * A string of @size bytes, its end and padding included; NULL, with the cursor gone bad, if it
 * does not end there.
 */
static inline const char *bytes_string(struct bytes *b, uint32_t size)
{
	const char *string = (const char *)b->data + b->pos;

	bytes_skip(b, size);
	for (uint32_t i = 0; !b->bad && i < size; i++)
		if (!string[i])
			return string;
	b->bad = true;
	return 0;
}

/* Write an integer of n <= 8 bytes; a single store where @n is a constant. */
static BOBBIN_ALWAYS_INLINE uint8_t *bytes_store(uint8_t *at, uint64_t value, unsigned int n,
						 bool big_endian)
{
	if (big_endian)
		for (unsigned int i = 0; i < n; i++)
			at[i] = (uint8_t)(value >> 8 * (n - 1 - i));
	else
		for (unsigned int i = 0; i < n; i++)
			at[i] = (uint8_t)(value >> 8 * i);
	return at + n;
}

#endif
