/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/name_pool.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_SIZE ((size_t)1 << 16)

struct name_chunk {
	struct name_chunk *next;
	size_t used, size;
	char text[];
};

void name_pool_init(struct name_pool *pool)
{
	*pool = (struct name_pool){.seed = hash_seed()};
}

void name_pool_fini(struct name_pool *pool)
{
	struct name_chunk *chunk, *next;

	for (chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(pool->names);
	hash_index_fini(&pool->index);
}

static char *reserve_text(struct name_pool *pool, size_t size)
{
	struct name_chunk *chunk = pool->chunks;
	size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

	if (!chunk || chunk->size - chunk->used < size) {
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct name_chunk){.next = pool->chunks, .size = room};
		pool->chunks = chunk;
	}
	chunk->used += size;
	return chunk->text + chunk->used - size;
}

static int add_name(struct name_pool *pool, const char *text, size_t size, uint64_t hash,
		    const char **ret)
{
	char *copy;
	int r;

	copy = reserve_text(pool, size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	r = hash_index_push(&pool->index, hash, pool->names, pool->n_names, pool->capacity, copy);
	if (!r)
		*ret = copy;
	return r;
}

int name_pool_intern(struct name_pool *pool, const char *text, const char **ret)
{
	size_t size = strlen(text) + 1, at = 0;
	uint64_t hash = hash_bytes(text, size, pool->seed);
	uint32_t id;

	while (hash_index_next(&pool->index, hash, &at, &id)) {
		if (strcmp(pool->names[id], text))
			continue;
		*ret = pool->names[id];
		return 0;
	}
	return add_name(pool, text, size, hash, ret);
}

size_t name_pool_memory(const struct name_pool *pool)
{
	size_t sum = pool->capacity * sizeof(*pool->names) +
		     pool->index.n_slots * sizeof(*pool->index.slots);

	for (const struct name_chunk *chunk = pool->chunks; chunk; chunk = chunk->next)
		sum += sizeof(*chunk) + chunk->size;
	return sum;
}
