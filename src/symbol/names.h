/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.h - the strings that results point to, each kept once.
 *
 * They come from files that nobody vouches for and end on terminals, so long
 * ones are cut and control characters become '?'.
 */
#ifndef BOBBIN_SYMBOL_NAMES_H
#define BOBBIN_SYMBOL_NAMES_H

#include "base/name_pool.h"

#include <stdbool.h>

#define NAME_MAX_SIZE 16384

struct names {
	struct name_pool pool;
	/* as demangle(); NULL: names stay as they are */
	bool (*demangle)(void *ctx, const char *mangled, char *dst, size_t size);
	void *ctx;
};

struct name_pair {
	const char *name;    /* demangled if so configured */
	const char *mangled; /* as found */
};

/* The kept copy of @text.  Returns 0, -ENOMEM, -E2BIG. */
int names_keep(struct names *names, const char *text, const char **ret);

/*
 * Keep a name of a symbol table and how it reads: without the version that
 * follows '@', demangled.  Returns 0, -ENOMEM, -E2BIG.
 */
int names_symbol(struct names *names, const char *mangled, struct name_pair *ret);

#endif
