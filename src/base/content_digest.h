/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * content_digest.h - BLAKE2b (RFC 7693) with 32 bytes, without a key.
 *
 * It tells contents apart that their authors want to look the same.
 *
 *	content_digest_init(&d);
 *	content_digest_add(&d, bytes, size);
 *	content_digest_get(&d, digest);
 */
#ifndef BOBBIN_BASE_CONTENT_DIGEST_H
#define BOBBIN_BASE_CONTENT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define CONTENT_DIGEST_SIZE 32
#define CONTENT_DIGEST_BLOCK 128

struct content_digest {
	uint64_t state[8];
	uint64_t total;
	uint8_t block[CONTENT_DIGEST_BLOCK];
	size_t used; /* bytes of @block */
};

void content_digest_init(struct content_digest *digest);
void content_digest_add(struct content_digest *digest, const void *bytes, size_t size);

/* The digest of all that was added; nothing more can be. */
void content_digest_get(struct content_digest *digest, uint8_t ret[CONTENT_DIGEST_SIZE]);

/* A number of fixed size. */
static inline void content_digest_u64(struct content_digest *digest, uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	content_digest_add(digest, bytes, sizeof(bytes));
}

#endif
