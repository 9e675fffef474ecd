/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/content_digest.h"

#include <stdbool.h>
#include <string.h>

#define ROUNDS 12

static const uint64_t start_state[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* The words of a block in the order in which a round takes them. */
static const uint8_t orders[10][16] = {
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate(uint64_t value, unsigned int by)
{
	return value >> by | value << (64 - by);
}

static inline void mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
	*a += *b + x;
	*d = rotate(*d ^ *a, 32);
	*c += *d;
	*b = rotate(*b ^ *c, 24);
	*a += *b + y;
	*d = rotate(*d ^ *a, 16);
	*c += *d;
	*b = rotate(*b ^ *c, 63);
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word = 0;

#pragma GCC unroll 8
	for (unsigned int i = 0; i < 8; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	return word;
}

static void add_block(struct content_digest *d, const uint8_t *block, bool last)
{
	uint64_t m[16], v[16];

	for (unsigned int i = 0; i < 16; i++)
		m[i] = word_at(block + 8 * i);
	for (unsigned int i = 0; i < 8; i++) {
		v[i] = d->state[i];
		v[i + 8] = start_state[i];
	}
	v[12] ^= d->total;
	v[14] ^= last ? UINT64_MAX : 0;
	/* so that words are taken from where a constant says */
#pragma GCC unroll 12
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const uint8_t *o = orders[round % 10];

		mix(&v[0], &v[4], &v[8], &v[12], m[o[0]], m[o[1]]);
		mix(&v[1], &v[5], &v[9], &v[13], m[o[2]], m[o[3]]);
		mix(&v[2], &v[6], &v[10], &v[14], m[o[4]], m[o[5]]);
		mix(&v[3], &v[7], &v[11], &v[15], m[o[6]], m[o[7]]);
		mix(&v[0], &v[5], &v[10], &v[15], m[o[8]], m[o[9]]);
		mix(&v[1], &v[6], &v[11], &v[12], m[o[10]], m[o[11]]);
		mix(&v[2], &v[7], &v[8], &v[13], m[o[12]], m[o[13]]);
		mix(&v[3], &v[4], &v[9], &v[14], m[o[14]], m[o[15]]);
	}
	for (unsigned int i = 0; i < 8; i++)
		d->state[i] ^= v[i] ^ v[i + 8];
}

void content_digest_init(struct content_digest *digest)
{
	*digest = (struct content_digest){0};
	memcpy(digest->state, start_state, sizeof(start_state));
	/* no key, one tree of depth one */
	digest->state[0] ^= 0x01010000 | CONTENT_DIGEST_SIZE;
}

void content_digest_add(struct content_digest *digest, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size) {
		size_t part = sizeof(digest->block) - digest->used;

		/* a full block waits: the last one is marked */
		if (!part) {
			digest->total += sizeof(digest->block);
			add_block(digest, digest->block, false);
			digest->used = 0;
			continue;
		}
		part = part < size ? part : size;
		memcpy(digest->block + digest->used, from, part);
		digest->used += part;
		from += part;
		size -= part;
	}
}

void content_digest_get(struct content_digest *digest, uint8_t ret[CONTENT_DIGEST_SIZE])
{
	memset(digest->block + digest->used, 0, sizeof(digest->block) - digest->used);
	digest->total += digest->used;
	add_block(digest, digest->block, true);
	for (unsigned int i = 0; i < CONTENT_DIGEST_SIZE; i++)
		ret[i] = (uint8_t)(digest->state[i / 8] >> 8 * (i % 8));
}
