/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namepool.h - the strings that results point to, each kept once.
 *
 * Strings come from files that nobody vouches for and end on terminals, so
 * control characters are replaced on the way in.
 */
#ifndef BOBBIN_SYMBOL_NAMEPOOL_H
#define BOBBIN_SYMBOL_NAMEPOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Longer names are cut. */
#define NAME_MAX_SIZE 16384

struct name_pool {
	struct name_block *blocks;
	const char **slots;
	size_t slot_count, used, memory;
	bool demangle, parameters;
};

struct name_pair {
	const char *name;    /* demangled if so configured */
	const char *mangled; /* as found */
};

/* The kept copy of @len bytes, or NULL if there is no memory. */
const char *symbol_pool_keep(struct name_pool *pool, const char *name, size_t len);

/*
 * Keep a name of a symbol table and how it reads: without the version that
 * follows '@', demangled.  Returns 0, -ENOMEM.
 */
int symbol_pool_symbol(struct name_pool *pool, const char *mangled, struct name_pair *ret);

void symbol_pool_fini(struct name_pool *pool);

#endif
