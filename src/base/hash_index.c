/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/hash_index.h"

#include <sys/random.h>
#include <time.h>

#include "base/vector.h"

uint64_t hash_seed(void)
{
	uint64_t seed;
	struct timespec now;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return hash_words((uintptr_t)&seed, (uint64_t)now.tv_nsec, (uint64_t)now.tv_sec);
}

static void put(struct hash_index *index, struct hash_slot slot)
{
	size_t at = slot.hash;

	while (index->slots[at & (index->n_slots - 1)].number)
		at++;
	index->slots[at & (index->n_slots - 1)] = slot;
}

static int grow(struct hash_index *index)
{
	struct hash_index larger = {.n_slots = index->n_slots ? index->n_slots * 2 : 64,
				    .used = index->used};

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->n_slots; i++)
		if (index->slots[i].number)
			put(&larger, index->slots[i]);
	free(index->slots);
	*index = larger;
	return 0;
}

int hash_index_add(struct hash_index *index, uint64_t hash, uint32_t id)
{
	int r;

	if (index->used >= index->n_slots / 4 * 3) {
		r = grow(index);
		if (r < 0)
			return r;
	}
	put(index, (struct hash_slot){.hash = (uint32_t)hash, .number = id + 1});
	index->used++;
	return 0;
}

int hash_index_room(struct hash_index *index, uint64_t hash, void *array, size_t *capacity,
		    size_t count, size_t size)
{
	int r;

	if (count >= UINT32_MAX - 1)
		return -E2BIG;
	r = vector_reserve(array, capacity, count + 1, size);
	return r ? r : hash_index_add(index, hash, (uint32_t)count);
}

void hash_index_fini(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){0};
}
