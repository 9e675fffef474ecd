/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_pool.h - each distinct string once.
 *
 * Two interned strings are equal if and only if their pointers are.  They stay
 * where they are until the pool goes.
 */
#ifndef BOBBIN_BASE_NAME_POOL_H
#define BOBBIN_BASE_NAME_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

struct name_chunk;

struct name_pool {
	struct hash_index index;
	const char **names;
	size_t n_names, capacity;
	struct name_chunk *chunks; /* the one that is being filled comes first */
	uint64_t seed;
};

void name_pool_init(struct name_pool *pool);

void name_pool_fini(struct name_pool *pool);

/*
 * The pool's copy of a string, valid until name_pool_fini().  0, -ENOMEM, or -E2BIG for more than
 * 2^32 - 2 strings.
 */
int name_pool_intern(struct name_pool *pool, const char *text, const char **ret);

/* Bytes that the pool holds. */
size_t name_pool_memory(const struct name_pool *pool);

#endif
