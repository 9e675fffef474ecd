/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symlist.h - address ranges with names.
 */
#ifndef BOBBIN_SYMBOL_SYMLIST_H
#define BOBBIN_SYMBOL_SYMLIST_H

#include "symbol/interval.h"

#include <stdio.h>

/* The value of an item is the offset of its name, below these bits for the list's owner. */
#define SYMLIST_NAME_MASK ((1ull << 40) - 1)

struct symlist {
	struct interval_map map;
	char *names;
	size_t names_size, names_capacity;
};

/* Add a range and its name; @marks go above SYMLIST_NAME_MASK.  Returns 0, -ENOMEM. */
int symlist_add(struct symlist *l, uint64_t start, uint64_t size, uint64_t marks, const char *name,
		size_t len);

/* Take text with names in it, such as a string table: @ret is where.  Returns 0, -ENOMEM. */
int symlist_add_text(struct symlist *l, const char *text, size_t len, uint64_t *ret);

/* Returns 0, or else what ends the reading. */
typedef int symlist_line_fn(struct symlist *l, const char *line);

/*
 * Call @add for each whole line of a file.  Returns 0, with what was added up
 * to the end or to where @add ended the reading; -ENOMEM with nothing.
 */
int symlist_read(FILE *f, symlist_line_fn *add, struct symlist *ret);

static inline const char *symlist_name(const struct symlist *l, const struct interval *item)
{
	return l->names + (item->value & SYMLIST_NAME_MASK);
}

static inline size_t symlist_memory(const struct symlist *l)
{
	return interval_map_memory(&l->map) + l->names_capacity;
}

void symlist_fini(struct symlist *l);

#endif
