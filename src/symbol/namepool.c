/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/namepool.h"

#include "symbol/demangle.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (64 << 10)
#define FIRST_SLOTS 1024

struct name_block {
	struct name_block *next;
	size_t used, size;
	char bytes[];
};

static uint64_t hash_bytes(const char *name, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

static size_t find_slot(const char **slots, size_t count, const char *name, size_t len)
{
	size_t i = hash_bytes(name, len) & (count - 1);

	while (slots[i] && (strncmp(slots[i], name, len) || slots[i][len]))
		i = (i + 1) & (count - 1);
	return i;
}

static int grow_slots(struct name_pool *pool)
{
	size_t count = pool->slot_count ? 2 * pool->slot_count : FIRST_SLOTS;
	const char **slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < pool->slot_count; i++) {
		const char *name = pool->slots[i];

		if (name)
			slots[find_slot(slots, count, name, strlen(name))] = name;
	}
	pool->memory += (count - pool->slot_count) * sizeof(*slots);
	free(pool->slots);
	pool->slots = slots;
	pool->slot_count = count;
	return 0;
}

static char *allocate(struct name_pool *pool, size_t size)
{
	struct name_block *block = pool->blocks;
	size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;

	if (!block || block->size - block->used < size) {
		block = malloc(sizeof(*block) + capacity);
		if (!block)
			return NULL;
		block->next = pool->blocks;
		block->used = 0;
		block->size = capacity;
		pool->blocks = block;
		pool->memory += sizeof(*block) + capacity;
	}
	block->used += size;
	return block->bytes + block->used - size;
}

static void replace_controls(char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)name[i] < ' ' || name[i] == 0x7f)
			name[i] = '?';
}

static const char *add(struct name_pool *pool, const char *name, size_t len)
{
	char *copy = allocate(pool, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = '\0';
	return copy;
}

const char *symbol_pool_keep(struct name_pool *pool, const char *name, size_t len)
{
	char clean[NAME_MAX_SIZE];
	size_t slot;

	if (len > sizeof(clean))
		len = sizeof(clean);
	memcpy(clean, name, len);
	replace_controls(clean, len);
	if (2 * pool->used >= pool->slot_count && grow_slots(pool))
		return NULL;
	slot = find_slot(pool->slots, pool->slot_count, clean, len);
	if (!pool->slots[slot]) {
		pool->slots[slot] = add(pool, clean, len);
		pool->used += pool->slots[slot] != NULL;
	}
	return pool->slots[slot];
}

/* "name@VERSION" and "name@@VERSION" of symbol tables, but not "name@plt". */
static size_t unversioned_length(const char *mangled)
{
	const char *at = strchr(mangled, '@');

	return at && at > mangled && strcmp(at, "@plt") ? (size_t)(at - mangled) : strlen(mangled);
}

static int keep_readable(struct name_pool *pool, const char *mangled, struct name_pair *pair)
{
	char plain[NAME_MAX_SIZE], readable[NAME_MAX_SIZE];
	size_t len = unversioned_length(mangled);

	if (len >= sizeof(plain))
		len = sizeof(plain) - 1;
	memcpy(plain, mangled, len);
	plain[len] = '\0';
	if (pool->demangle && demangle(plain, pool->parameters, readable, sizeof(readable)))
		pair->name = symbol_pool_keep(pool, readable, strlen(readable));
	else
		pair->name = symbol_pool_keep(pool, plain, len);
	return pair->name ? 0 : -ENOMEM;
}

int symbol_pool_symbol(struct name_pool *pool, const char *mangled, struct name_pair *ret)
{
	struct name_pair pair;
	int err;

	pair.mangled = symbol_pool_keep(pool, mangled, strlen(mangled));
	if (!pair.mangled)
		return -ENOMEM;
	err = keep_readable(pool, mangled, &pair);
	if (!err)
		*ret = pair;
	return err;
}

void symbol_pool_fini(struct name_pool *pool)
{
	while (pool->blocks) {
		struct name_block *next = pool->blocks->next;

		free(pool->blocks);
		pool->blocks = next;
	}
	free(pool->slots);
	pool->slots = NULL;
	pool->slot_count = pool->used = pool->memory = 0;
}
