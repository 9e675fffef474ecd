/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hash_index.h - from a hash to the numbers of the things that have it.
 *
 * The things live in an array of the caller, who also compares them:
 *
 *	size_t at = 0;
 *	uint32_t id;
 *
 *	while (hash_index_next(index, hash, &at, &id))
 *		if (things[id] is the one)
 *			return id;
 *
 * Open addressing, 8 bytes a slot, at most three quarters full.  Names come
 * from files that nobody vouches for, so hashes are keyed: take the seed from
 * hash_seed(), once per table.
 */
#ifndef BOBBIN_BASE_HASH_INDEX_H
#define BOBBIN_BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_slot {
	uint32_t hash;
	uint32_t number; /* id + 1, 0: empty */
};

struct hash_index {
	struct hash_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t used;
};

/* A number that an author of hostile names cannot know. */
uint64_t hash_seed(void);

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_words(uint64_t a, uint64_t b, uint64_t seed)
{
	return hash_mix(hash_mix(a ^ seed, 0x9e3779b97f4a7c15) ^ b, 0xd6e8feb86659fd93 ^ seed);
}

static inline uint64_t hash_bytes(const char *data, size_t size, uint64_t seed)
{
	uint64_t hash = seed ^ size, word;

	for (; size >= 8; data += 8, size -= 8) {
		memcpy(&word, data, 8);
		hash = hash_mix(hash ^ word, 0x9e3779b97f4a7c15);
	}
	word = 0;
	memcpy(&word, data, size);
	return hash_mix(hash ^ word, 0xd6e8feb86659fd93 ^ seed);
}

/*
 * The next number that was added with a hash, of which the lower 32 bits count.  @at: how far the
 * search is, 0 to begin.  false: there are no more.  An index that is all zero is empty.
 */
static inline bool hash_index_next(const struct hash_index *index, uint64_t hash, size_t *at,
				   uint32_t *id)
{
	while (*at < index->n_slots) {
		const struct hash_slot *slot =
			&index->slots[((uint32_t)hash + (*at)++) & (index->n_slots - 1)];

		if (!slot->number)
			return false;
		if (slot->hash != (uint32_t)hash)
			continue;
		*id = slot->number - 1;
		return true;
	}
	return false;
}

/* Add a number below UINT32_MAX.  0, or -ENOMEM with the index as it was. */
int hash_index_add(struct hash_index *index, uint64_t hash, uint32_t id);

/*
 * Add the next element of an array that grows, as for vector_reserve(); the caller stores it there.
 * @count: elements that the array has.  0; -ENOMEM, or -E2BIG for more than 2^32 - 2 elements, with
 * the index as it was.
 */
int hash_index_room(struct hash_index *index, uint64_t hash, void *array, size_t *capacity,
		    size_t count, size_t size);

/* The same, and append the element to the array, as vector_push(). */
#define hash_index_push(index, hash, items, count, capacity, ...) \
	__extension__({ \
		int hash_index_error = hash_index_room(index, hash, &(items), &(capacity), count, \
						       sizeof(*(items))); \
\
		if (!hash_index_error) \
			(items)[(count)++] = (__VA_ARGS__); \
		hash_index_error; \
	})

void hash_index_fini(struct hash_index *index);

#endif
