/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile.h - mapped files: their segments, their functions, their DWARF.
 *
 * A file costs its names until the first address of it is asked for; then it is
 * read, and it can be shut again at any time to give the memory back.  No
 * descriptors stay open.
 */
#ifndef BOBBIN_SYMBOL_SYMFILE_H
#define BOBBIN_SYMBOL_SYMFILE_H

#include "symbol/debuginfo.h"
#include "symbol/symbol.h"

/* What all files share. */
struct symfile_context {
	struct search_paths paths;
	struct names names;
	struct debug_wish wish;
	size_t limit;
};

/*
 * Files by number, within a limit of memory.  What of them was read is given back when all
 * together take more, the least recently used first.
 */
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

/* Whether a file with this number is known. */
bool symfile_set_has(const struct symfile_set *set, unsigned int number);

/*
 * As symbolizer_resolve(), of a known file.  @holds: where the symbols are the same but for their
 * offset, around @offset; empty where that is not known.
 */
int symfile_set_resolve(struct symfile_set *set, unsigned int number, uint64_t offset,
			struct symbol *ret, size_t max, struct offset_range *holds);

/* Give back what of a known file was read. */
void symfile_set_shut(struct symfile_set *set, unsigned int number);

/* Whether nothing could be opened of a file. */
bool symfile_set_misses(const struct symfile_set *set, unsigned int number);

/* Files that are open. */
unsigned int symfile_set_open(const struct symfile_set *set);

#endif
