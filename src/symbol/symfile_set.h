/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile_set.h - files by number, within a limit of memory.
 *
 * What of them was read is given back when all together take more than the limit, the least
 * recently used first.
 */
#ifndef BOBBIN_SYMBOL_SYMFILE_SET_H
#define BOBBIN_SYMBOL_SYMFILE_SET_H

#include "symbol/symfile.h"

struct symfile_set {
	struct symfile_context context;
	struct symfile **files; /* NULL: not known */
	size_t count, capacity;
	uint64_t clock;
	size_t memory;
};

/*
 * Make a file known by a number, or tell of other paths of the one that is.  @image is taken
 * over, if not NULL, and replaces the file.  Returns 0, -ENOMEM.
 */
int symfile_set_put(struct symfile_set *set, unsigned int number, const struct symbol_file *file,
		    void *image, size_t image_size);

/* The file with a number, or NULL. */
struct symfile *symfile_set_get(const struct symfile_set *set, unsigned int number);

/* As symfile_resolve(); the file must be known. */
int symfile_set_resolve(struct symfile_set *set, unsigned int number, uint64_t offset,
			struct symbol *ret, size_t max, struct offset_range *holds);

/* Files that are open. */
unsigned int symfile_set_open(const struct symfile_set *set);

void symfile_set_fini(struct symfile_set *set);

#endif
