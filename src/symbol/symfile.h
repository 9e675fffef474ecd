/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symfile.h - one mapped file: its segments, its functions, its DWARF.
 *
 * A file costs its names until the first address of it is asked for; then it is
 * read, and it can be shut again at any time to give the memory back.  No
 * descriptors stay open.
 */
#ifndef BOBBIN_SYMBOL_SYMFILE_H
#define BOBBIN_SYMBOL_SYMFILE_H

#include "symbol/debuginfo.h"
#include "symbol/file_paths.h"
#include "symbol/symbol.h"
#include "symbol/symlist.h"

/* What all files share. */
struct symfile_context {
	struct search_paths paths;
	struct names names;
	struct debug_wish wish;
	size_t limit;
};

enum symfile_state {
	SYMFILE_SHUT,
	SYMFILE_OPEN,
	SYMFILE_MISSING, /* nothing could be opened */
};

struct symfile {
	struct file_paths paths;
	void *image; /* an image in memory, else NULL */
	size_t image_size;
	struct build_id build_id;
	enum symfile_state state;
	uint64_t used;          /* when last, for eviction */
	unsigned int overgrown; /* how often it took more than all the memory */
	size_t memory;          /* when last measured */
	struct symfile_segment *segments;
	size_t segment_count;
	struct symlist functions;
	struct debuginfo *debuginfo;
};

/* @image is taken over, if not NULL.  Returns 0, -ENOMEM. */
int symfile_new(const struct symbol_file *file, void *image, size_t image_size,
		struct symfile **ret);
void symfile_free(struct symfile *f);

/* Other paths for the same file: it is read again.  Returns 0, -ENOMEM. */
int symfile_set_paths(struct symfile *f, const struct symbol_file *file);

/*
 * As symbolizer_resolve().  @holds: where the symbols are the same but for their offset,
 * around @offset; empty where that is not known.
 */
int symfile_resolve(struct symfile *f, struct symfile_context *c, uint64_t offset,
		    struct symbol *ret, size_t max, struct offset_range *holds);

/* Set @memory: the bytes that are held, besides names. */
void symfile_measure(struct symfile *f);

void symfile_shut(struct symfile *f);

/* Whether DWARF is still read: it is given up when it took too much too often. */
static inline bool symfile_may_grow(const struct symfile *f)
{
	return f->overgrown < 8;
}

#endif
